/* Marks on candidates: which are wrong, which lines were looked at, and what follows from it. */
const host = document.querySelector("[data-preview]");
const place = `onward-preview-${host.dataset.preview}`;
const lines = [...host.querySelectorAll("[data-line]")];
const Z = 1.959964;

const remembered = () => {
  try {
    return JSON.parse(localStorage.getItem(place)) ?? {};
  } catch {
    return {}; // a file opened from disk may have no storage
  }
};
const marks = new Map(Object.entries(remembered()));

const remember = () => {
  try {
    localStorage.setItem(place, JSON.stringify(Object.fromEntries(marks)));
  } catch {
    // then it is forgotten with the page
  }
};

/* Wilson's interval of a share. */
const wilson = (right, of) => {
  const share = right / of;
  const wide = Z * Math.sqrt((share * (1 - share)) / of + (Z * Z) / (4 * of * of));
  const middle = share + (Z * Z) / (2 * of);
  const below = 1 + (Z * Z) / of;
  return [Math.max((middle - wide) / below, 0), Math.min((middle + wide) / below, 1)];
};

const percent = (share) => `${(100 * share).toFixed(0)} %`;

const shots = (line) => [...line.querySelectorAll("button.shot")];

const say = () => {
  const sums = new Map();
  const add = (concept, right, of) => {
    const [before, all] = sums.get(concept) ?? [0, 0];
    sums.set(concept, [before + right, all + of]);
  };
  for (const line of lines) {
    const mark = marks.get(line.dataset.line);
    line.classList.toggle("done", Boolean(mark));
    line.querySelector(".seen").setAttribute("aria-pressed", String(Boolean(mark)));
    const wrong = new Set(mark ?? []);
    const there = shots(line);
    there.forEach((shot) => shot.setAttribute("aria-pressed", String(wrong.has(shot.dataset.rank))));
    if (!mark) continue;
    const right = there.filter((shot) => !wrong.has(shot.dataset.rank)).length;
    add(line.dataset.concept, right, there.length);
    add("all", right, there.length);
  }
  for (const row of host.querySelectorAll(".estimates tr[data-concept]")) {
    const [right, of] = sums.get(row.dataset.concept) ?? [0, 0];
    const [low, high] = of ? wilson(right, of) : [0, 0];
    const range = of ? `${percent(low)} to ${percent(high)}` : "—";
    [of, right, of ? percent(right / of) : "—", range].forEach((text, at) => {
      row.cells[at + 1].textContent = text;
    });
    const output = host.querySelector(`output[data-of="${row.dataset.concept}"]`);
    if (output) output.textContent = of ? `${right} of ${of} right: ${range}.` : "";
  }
};

const change = (line, wrong) => {
  if (wrong) marks.set(line.dataset.line, wrong);
  else marks.delete(line.dataset.line);
  remember();
  say();
};

const look = (line) => change(line, marks.has(line.dataset.line) ? null : []);

const toggle = (line, rank) => {
  const wrong = new Set(marks.get(line.dataset.line) ?? []);
  if (!wrong.delete(rank)) wrong.add(rank);
  change(line, [...wrong]);
};

host.addEventListener("click", ({ target }) => {
  const line = target.closest("[data-line]");
  const shot = target.closest("button.shot");
  if (shot) toggle(line, shot.dataset.rank);
  else if (target.closest(".seen")) look(line);
  else if (target.closest(".forget")) {
    marks.clear();
    remember();
    say();
  }
});

const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

host.addEventListener("keydown", (event) => {
  const line = event.target.closest?.("[data-line]");
  if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "l" || event.key === "L") {
    look(line);
    return;
  }
  const step = STEPS[event.key];
  if (!step) return;
  const at = Math.max(shots(line).indexOf(event.target), 0);
  const there = shots(step[0] ? (lines[lines.indexOf(line) + step[0]] ?? line) : line);
  const next = there[Math.min(Math.max(at + step[1], 0), there.length - 1)];
  if (next) {
    event.preventDefault();
    next.focus();
  }
});

say();
