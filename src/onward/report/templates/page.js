/* What the report does beside its tables: heat maps, the difference of two methods, one method set
   apart from the others in all figures, and figures that take turns. */

const scales = JSON.parse(document.getElementById("scales").textContent);
const FIRST = 12; // heat maps that are drawn without being asked for
const FINE = 16; // periods above which a cell is too small for its number

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

/* The colour at a place between 0 and 1 of a scale, and the ink that is read best on it. */
const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const coloured = (scale, place) => {
  const at = Math.min(Math.max(place, 0), 1) * (scale.length - 1);
  const low = Math.min(Math.floor(at), scale.length - 2);
  const [a, b] = [parts(scale[low]), parts(scale[low + 1])];
  const mixed = a.map((part, channel) => Math.round(part + (b[channel] - part) * (at - low)));
  const linear = mixed.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  // Where white and black are equally far away, by the contrast of WCAG.
  return { fill: `rgb(${mixed})`, ink: light > 0.179 ? "#000" : "#fff" };
};

const signed = (tenths) => `${tenths > 0 ? "+" : tenths < 0 ? "−" : ""}${(Math.abs(tenths) / 10).toFixed(1)}`;

class Maps {
  constructor(host) {
    this.host = host;
    this.spec = JSON.parse(host.querySelector("script").textContent);
    const { periods, methods } = this.spec;
    this.fine = periods.length > FINE;
    this.shown = Math.min(FIRST, methods.length);
    this.panels = make("div", { class: "panels maps", style: `--map: ${this.fine ? 420 : 92 + 33 * periods.length}px` });
    host.append(this.scale());
    if (methods.length > 1) host.append(this.difference());
    host.append(this.panels);
    const left = methods.length - this.shown;
    if (left > 0) {
      const more = make("button", { type: "button", class: "button" }, `show ${left} more heat maps`);
      more.addEventListener("click", () => {
        this.draw(methods.slice(this.shown));
        more.parentElement.remove();
      });
      host.append(make("p", { class: "more" }, more));
    }
    if (this.spec.left_out) {
      const words = `Score matrices of ${this.spec.left_out} more methods are left out, so that this page stays small.`;
      host.append(make("p", { class: "note" }, words));
    }
    this.draw(methods.slice(0, this.shown));
  }

  draw(methods) {
    const { low, high } = this.spec;
    const span = Math.max(high - low, 1);
    for (const { label, cells } of methods) {
      this.panels.append(
        this.table(label, cells, (cell) => ({
          ...coloured(scales.scores, (cell - low) / span),
          text: (cell / 10).toFixed(1),
        })),
      );
    }
  }

  /* A matrix is a table: who cannot see the colours reads the same numbers. */
  table(label, cells, look) {
    const { periods, rows } = this.spec;
    const body = make("tbody");
    rows.forEach((period, row) => {
      const line = make("tr", {}, make("th", { scope: "row", title: periods[period] }, periods[period]));
      for (let column = 0; column < periods.length; column += 1) {
        const cell = cells[row * periods.length + column];
        if (cell === null) {
          line.append(make("td", { class: "none" }, make("span", { class: "unseen" }, "not tested")));
          continue;
        }
        const { fill, ink, text } = look(cell);
        const element = make("td", { style: `background: ${fill}; color: ${ink}` }, text);
        if (this.fine) element.title = `${periods[period]} → ${periods[column]}: ${text}`;
        line.append(element);
      }
      body.append(line);
    });
    const heads = periods.map((period) => make("th", { scope: "col", title: period }, make("span", {}, period)));
    const columns = make("colgroup", {}, make("col", { class: "side" }));
    const corner = make("th", { scope: "col" }, make("span", { class: "unseen" }, "learned up to"));
    return make(
      "table",
      { class: this.fine ? "map fine" : "map" },
      make("caption", { class: "name", dir: "auto" }, label),
      columns,
      make("thead", {}, make("tr", {}, corner, ...heads)),
      body,
    );
  }

  bar(scale, low, high) {
    const image = `linear-gradient(to right, ${scale.join(", ")})`;
    return make("p", { class: "scale" }, low, make("i", { style: `background: ${image}` }), high);
  }

  scale() {
    const { low, high } = this.spec;
    return this.bar(scales.scores, `${(low / 10).toFixed(1)} %`, `${(high / 10).toFixed(1)} %`);
  }

  difference() {
    const { methods, first, second } = this.spec;
    const choice = (chosen) => {
      const select = make("select");
      methods.forEach(({ label }, at) => select.append(new Option(label, at, at === chosen, at === chosen)));
      select.addEventListener("change", () => this.subtract());
      return select;
    };
    this.first = choice(first);
    this.second = choice(second);
    this.result = make("div");
    this.status = make("p", { class: "status", role: "status" });
    const tools = make(
      "div",
      { class: "tools" },
      make("label", {}, "difference: this method", this.first),
      make("label", {}, "minus this one", this.second),
      this.status,
    );
    this.box = make("div", { class: "difference" }, tools, this.result);
    this.subtract(true);
    return this.box;
  }

  subtract(silent = false) {
    const [a, b] = [this.first, this.second].map((select) => this.spec.methods[select.value]);
    const cells = a.cells.map((cell, at) => (cell === null || b.cells[at] === null ? null : cell - b.cells[at]));
    const there = cells.filter((cell) => cell !== null);
    const most = Math.max(...there.map(Math.abs), 1);
    const mean = there.reduce((sum, cell) => sum + cell, 0) / Math.max(there.length, 1);
    const ahead = there.filter((cell) => cell > 0).length;
    this.result.replaceChildren(
      this.bar(scales.differences, `−${(most / 10).toFixed(1)}`, `+${(most / 10).toFixed(1)} points`),
      this.table(`${a.label} − ${b.label}, in points`, cells, (cell) => ({
        ...coloured(scales.differences, 0.5 + cell / most / 2),
        text: signed(cell),
      })),
    );
    this.status.textContent = `${signed(mean)} points on average, ahead in ${ahead} of ${there.length} cells`;
    // Printed only if somebody chose something.
    if (!silent) this.box.classList.add("used");
  }
}

/* Heat maps are hundreds of cells each: those far below wait until somebody comes near. */
const hosts = document.querySelectorAll("[data-maps]");
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) wake(target);
  },
  { rootMargin: "1200px" },
);
const wake = (host) => {
  if (host.dataset.maps !== "") return;
  host.dataset.maps = "drawn";
  near.unobserve(host);
  new Maps(host);
};
for (const host of hosts) near.observe(host);
addEventListener("beforeprint", () => hosts.forEach(wake));

/* A method that is pointed at, focused or chosen stands out in every figure of its chapter. */
for (const chapter of document.querySelectorAll(".chapter")) {
  const chips = [...chapter.querySelectorAll(".chips button")];
  const known = new Set(chips.map((chip) => chip.dataset.method));
  let pinned = null;
  const light = (method) => {
    for (const plot of chapter.querySelectorAll(".plot")) {
      const mine = plot.querySelectorAll("g[data-method]");
      const here = method !== null && [...mine].some((group) => group.dataset.method === method);
      plot.classList.toggle("chosen", here);
      for (const group of mine) group.classList.toggle("lit", group.dataset.method === method);
    }
    for (const row of chapter.querySelectorAll("tr[data-method]")) {
      row.classList.toggle("lit", row.dataset.method === method);
    }
  };
  const over = ({ target }) => {
    const method = target.closest?.("[data-method]")?.dataset.method;
    light(known.has(method) ? method : pinned);
  };
  for (const kind of ["pointerover", "focusin"]) chapter.addEventListener(kind, over);
  chapter.addEventListener("pointerleave", () => light(pinned));
  chapter.addEventListener("focusout", () => light(pinned));
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      pinned = pinned === chip.dataset.method ? null : chip.dataset.method;
      for (const other of chips) other.setAttribute("aria-pressed", other.dataset.method === pinned);
      light(pinned);
    });
  }
}

/* Figures that take turns, such as cost in seconds and in arithmetic. */
for (const host of document.querySelectorAll("[data-switch]")) {
  const buttons = [...host.querySelectorAll(".switch button")];
  const shown = [...host.children].filter((child) => !child.classList.contains("switch"));
  buttons.forEach((button, at) => {
    button.addEventListener("click", () => {
      shown.forEach((child, place) => (child.hidden = place !== at));
      buttons.forEach((other, place) => other.setAttribute("aria-pressed", place === at));
    });
  });
}
