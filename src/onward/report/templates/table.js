/* A table over rows of data: sorted, filtered, and drawn as far as it is looked at.

   In a template: `{{ table(spec) }}` of macros.html.j2, which writes an element with `data-table`
   and the spec as JSON in a script element inside it. The spec:

     label      the table's name for who cannot see it
     columns    heading, note (small, below it), and kind:
                  "text"     cell: a string, or {text, href, note}; href is relative, or it is dropped
                  "number"   cell: a number, or null
                  "measure"  cell: [mean, deviation or null, further lines…], or null
                with digits (after the point, 1 by default), signed: true (a plus where due),
                filter: true (a choice among its values), hidden: true (not drawn, only filtered and
                searched), missing (what null means, "not measured" by default)
     rows       cells in the order of the columns; maybe group (a number, 0 by default), method (a
                number that chips and figures know it by), colour (a CSS variable's name), best (the
                columns in bold), class
     groups     what stands above the rows of group 1, 2, …: groups are sorted each for itself, so
                that a published number is never ranked among runs
     sort       {column, descending}: how the rows stand at first; without it as they come
     folded     true: a group above 0 is only its heading and a button, until that is pressed or rows
                are searched or filtered; of many groups, those behind the first are one line
     step       how many rows are drawn at once, 100 by default
     words      what rows are called, ["row", "rows"] by default

   Sorting works on an array of numbers, and only the rows that are shown become elements: ten
   thousand rows sort as fast as a hundred draw. Numbers that are missing come last either way. */

const FIRST = 2;
const SAFE = /^(#[\w-]*|[\w.-]+(\/[\w.-]+)*(#[\w-]*)?)$/;

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

class Table {
  constructor(host) {
    this.host = host;
    this.spec = JSON.parse(host.querySelector("script").textContent);
    this.spec.step ??= 100;
    this.words = this.spec.words ?? ["row", "rows"];
    this.rows = this.spec.rows;
    this.visible = this.spec.columns.map((_, at) => at).filter((at) => !this.spec.columns[at].hidden);
    this.formats = this.spec.columns.map(({ digits = 1, signed = false }) => {
      const all = { minimumFractionDigits: digits, maximumFractionDigits: digits };
      return {
        spread: new Intl.NumberFormat("en", all),
        mean: new Intl.NumberFormat("en", { ...all, signDisplay: signed ? "exceptZero" : "auto" }),
      };
    });
    this.keys = new Map();
    this.groups = Uint16Array.from(this.rows, (row) => row.group ?? 0);
    this.drawn = this.spec.step;
    this.opened = new Set();
    this.sorted = this.spec.sort ?? null;
    this.build();
    this.arrange();
  }

  build() {
    this.status = make("p", { class: "status", role: "status" });
    this.search = make("input", { type: "search", spellcheck: "false", autocomplete: "off" });
    this.search.addEventListener("input", () => this.filter());
    this.choices = this.spec.columns
      .map((column, at) => ({ at, column }))
      .filter(({ column }) => column.filter)
      .map(({ at, column }) => this.choice(at, column));
    const tools = make("div", { class: "tools" });
    if (this.rows.length > 1) {
      tools.append(make("label", {}, `find ${this.words[1]}`, this.search));
      tools.append(...this.choices.map(({ label }) => label));
    }
    tools.append(this.status);
    this.heads = this.visible.map((at) => this.head(at));
    const head = make("thead", {}, make("tr", {}, ...this.heads));
    this.table = make("table", { class: "rows" }, make("caption", { class: "unseen" }, this.spec.label), head);
    const region = { class: "scroll", tabindex: "0", role: "region", "aria-label": this.spec.label };
    this.more = make("button", { type: "button", class: "button" });
    this.more.addEventListener("click", () => this.showMore());
    const more = make("p", { class: "more" }, this.more);
    this.host.append(tools, make("div", region, this.table), more);
    // Paper has no button to show more.
    addEventListener("beforeprint", () => {
      this.drawn = Math.max(this.drawn, 1000);
      this.draw();
    });
  }

  head(at) {
    const { heading, note, kind } = this.spec.columns[at];
    const button = make("button", { type: "button" }, heading);
    button.addEventListener("click", () => this.sortBy(at));
    const cell = make("th", { scope: "col", "aria-sort": "none" }, button);
    if (kind === "text") cell.className = "words";
    if (note) cell.append(make("small", {}, note));
    return cell;
  }

  choice(at, column) {
    const values = [...new Set(this.rows.map((row) => this.text(row, at)))].filter(Boolean).sort();
    const select = make("select", {}, make("option", { value: "" }, "all"));
    select.append(...values.map((value) => make("option", { value }, value)));
    select.addEventListener("change", () => this.filter());
    return { at, select, label: make("label", {}, column.heading, select) };
  }

  text(row, at) {
    const cell = row.cells[at];
    if (cell === null || cell === undefined) return "";
    return String(typeof cell === "object" && !Array.isArray(cell) ? cell.text : cell);
  }

  /* One number or text for every row, computed once: a comparison is then a single look. */
  key(at) {
    if (!this.keys.has(at)) {
      const { kind } = this.spec.columns[at];
      const keys =
        kind === "text"
          ? this.rows.map((row) => this.text(row, at).toLowerCase())
          : Float64Array.from(this.rows, (row) => {
              const cell = row.cells[at];
              return (Array.isArray(cell) ? cell[0] : cell) ?? NaN;
            });
      this.keys.set(at, keys);
    }
    return this.keys.get(at);
  }

  sortBy(at) {
    const usual = this.spec.columns[at].kind !== "text";
    const again = this.sorted?.column === at;
    this.sorted = { column: at, descending: again ? !this.sorted.descending : usual };
    this.arrange();
  }

  arrange() {
    if (this.sorted) {
      const { column, descending } = this.sorted;
      const keys = this.key(column);
      const sign = descending ? -1 : 1;
      const groups = this.groups;
      this.order = this.rows
        .map((_, at) => at)
        .sort((a, b) => {
          if (groups[a] !== groups[b]) return groups[a] - groups[b];
          const x = keys[a];
          const y = keys[b];
          if (x === y) return a - b;
          if (x !== x) return y !== y ? a - b : 1;
          if (y !== y) return -1;
          return x < y ? -sign : sign;
        });
    } else {
      this.order = this.rows.map((_, at) => at);
    }
    this.filter();
  }

  filter() {
    const wanted = this.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = this.choices.filter(({ select }) => select.value !== "");
    this.found = this.order.filter((at) => {
      const row = this.rows[at];
      if (chosen.some((choice) => this.text(row, choice.at) !== choice.select.value)) return false;
      return wanted.length === 0 || wanted.every((word) => this.words_of(at).includes(word));
    });
    this.narrowed = wanted.length > 0 || chosen.length > 0;
    this.sizes = new Map();
    for (const at of this.found) this.sizes.set(this.groups[at], (this.sizes.get(this.groups[at]) ?? 0) + 1);
    this.drawn = this.spec.step;
    this.draw();
    this.say();
  }

  /* What a search looks at: all texts of a row. */
  words_of(at) {
    this.haystack ??= new Array(this.rows.length);
    const texts = this.spec.columns.map(({ kind }, column) =>
      kind === "text" ? this.text(this.rows[at], column) : "",
    );
    return (this.haystack[at] ??= texts.join(" ").toLowerCase());
  }

  say() {
    const number = (count) => `${count.toLocaleString("en")} ${this.words[count === 1 ? 0 : 1]}`;
    const count =
      this.found.length === this.rows.length
        ? number(this.rows.length)
        : `${this.found.length.toLocaleString("en")} of ${number(this.rows.length)}`;
    let order = "";
    if (this.sorted) {
      const { heading, kind } = this.spec.columns[this.sorted.column];
      const ends = kind === "text" ? ["from A to Z", "from Z to A"] : ["lowest first", "highest first"];
      order = `, sorted by ${heading}, ${ends[this.sorted.descending ? 1 : 0]}`;
    }
    this.status.textContent = count + order;
  }

  showMore() {
    const first = this.drawn;
    this.drawn += 2 * this.spec.step;
    this.draw();
    // Who came by keyboard goes on where the new rows begin.
    this.table.querySelectorAll("tbody tr:not(.heading) th")[first]?.scrollIntoView({ block: "nearest" });
  }

  draw() {
    this.visible.forEach((at, place) => {
      const sorted = this.sorted?.column === at;
      const way = sorted && this.sorted.descending ? "descending" : "ascending";
      this.heads[place].setAttribute("aria-sort", sorted ? way : "none");
    });
    const bodies = [];
    let group = null;
    let drawn = 0;
    let left = 0;
    const waiting = new Set();
    for (const at of this.found) {
      const mine = this.groups[at];
      if (this.waits(mine)) {
        waiting.add(mine);
        continue;
      }
      const folded = this.foldable(mine) && !this.opened.has(mine);
      if (!folded && drawn >= this.drawn) {
        left += 1;
        continue;
      }
      if (mine !== group) {
        group = mine;
        bodies.push(make("tbody"));
        if (group > 0) bodies.at(-1).append(this.heading(group));
      }
      if (folded) continue;
      drawn += 1;
      bodies.at(-1).append(this.row(this.rows[at]));
    }
    if (waiting.size) bodies.push(make("tbody", {}, this.others(waiting.size)));
    for (const body of [...this.table.tBodies]) body.remove();
    this.table.append(...bodies);
    this.more.parentElement.hidden = left <= 0;
    this.more.textContent = `show ${Math.min(left, 2 * this.spec.step)} more of ${left.toLocaleString("en")}`;
  }

  foldable(group) {
    return Boolean(this.spec.folded) && group > 0 && !this.narrowed;
  }

  /* Of many groups only the first have their headings there, until somebody asks for the others. */
  waits(group) {
    return this.foldable(group) && !this.unrolled && group > FIRST && this.sizes.size > FIRST + 2;
  }

  others(count) {
    const words = make("span", {}, `${count} more published tables`);
    const button = make("button", { type: "button", class: "button", "aria-expanded": false }, "show them");
    button.addEventListener("click", () => {
      this.unrolled = true;
      this.draw();
      this.table.querySelector(`button[data-group="${FIRST + 1}"]`)?.focus();
    });
    words.append(" ", button);
    const cell = make("th", { class: "group", scope: "rowgroup", colspan: this.visible.length }, words);
    return make("tr", { class: "heading" }, cell);
  }

  heading(group) {
    const words = make("span", {}, this.spec.groups?.[group - 1] ?? "");
    if (this.foldable(group)) {
      const open = this.opened.has(group);
      const count = this.sizes.get(group);
      const label = open ? "hide" : `show ${count} ${count === 1 ? "row" : "rows"}`;
      const button = make("button", { type: "button", class: "button", "aria-expanded": open }, label);
      button.dataset.group = group;
      button.addEventListener("click", () => {
        if (!this.opened.delete(group)) this.opened.add(group);
        this.draw();
        this.table.querySelector(`button[data-group="${group}"]`).focus();
      });
      words.append(" ", button);
    }
    const cell = make("th", { class: "group", scope: "rowgroup", colspan: this.visible.length }, words);
    return make("tr", { class: "heading" }, cell);
  }

  row(row) {
    const element = make("tr", row.class ? { class: row.class } : {});
    if (row.method !== undefined) element.dataset.method = row.method;
    for (const [place, at] of this.visible.entries()) element.append(this.cell(row, at, place === 0));
    return element;
  }

  cell(row, at, first) {
    const { kind } = this.spec.columns[at];
    const value = row.cells[at];
    const element = make(first ? "th" : "td", first ? { scope: "row" } : {});
    if (kind === "text") {
      element.className = "words";
      if (first && row.colour) {
        element.classList.add("coloured");
        element.style.setProperty("--colour", `var(${row.colour})`);
      }
      const { text = value, href, note } = value !== null && typeof value === "object" ? value : {};
      const name = make("span", { class: "name", dir: "auto" }, text ?? "");
      element.append(href && SAFE.test(href) ? make("a", { href }, name) : name);
      if (note) element.append(make("small", { dir: "auto" }, note));
    } else if (value === null || value === undefined) {
      const words = this.spec.columns[at].missing ?? "not measured";
      element.append(make("span", { "aria-label": words, title: words }, "–"));
    } else {
      const [mean, deviation, ...lines] = Array.isArray(value) ? value : [value];
      const format = this.formats[at];
      element.append(format.mean.format(mean).replace("-", "−"));
      if (deviation !== undefined && deviation !== null) {
        element.append(make("span", { class: "spread" }, ` ± ${format.spread.format(deviation)}`));
      }
      for (const line of lines) element.append(make("small", {}, line));
    }
    if (row.best?.includes(at)) element.classList.add("best");
    return element;
  }
}

for (const host of document.querySelectorAll("[data-table]")) new Table(host);
