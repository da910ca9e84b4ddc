/* One image after the other: the next ones are loaded while this one is looked at, and a vote is
   sent while the next image is already there. */
import { Outbox, post } from "/static/outbox.js";

const find = (id) => document.getElementById(id);
const form = find("answer");
const boxes = [...form.querySelectorAll("input[name=label]")];
const none = form.querySelector("input[name=none]");
const sensitive = form.querySelector("input[name=sensitive]");
const keys = new Map([...form.querySelectorAll("[data-key]")].map((box) => [box.dataset.key, box]));
keys.delete("");
const csrf = document.querySelector("meta[name=csrf]").content;
const ASK_AGAIN = 5000;
const TRIES = 6;

let queue = []; // what comes next: {question, image, given}
let shown = null;
let since = 0;
let over = false;
const history = []; // what was answered on this page: {question, given}
const known = new Set();
const begun = performance.now();
let here = 0;

const outbox = new Outbox(csrf, {
  kept: (state) => take(state),
  told: (waiting, trouble) => {
    const saved = find("saved");
    saved.dataset.state = trouble ? "trouble" : waiting ? "saving" : "saved";
    saved.textContent = trouble
      ? `${waiting} not saved yet: the server is away. Keep this page open`
      : waiting ? "saving …" : "saved";
  },
  ended: (status) => end(status),
});
outbox.questions.forEach((question) => known.add(question));

const end = (status) => {
  over = true;
  show(null, status === 403
    ? "This link has been revoked. Thank you for your time."
    : "This link has ended. Ask for a new one.");
};

const load = (entry, tries = 0) => {
  const image = new Image();
  image.decoding = "async";
  image.onerror = () => {
    if (tries >= TRIES) {
      entry.broken = true; // somebody else may have better luck with it
      if (shown === entry) next();
      return;
    }
    setTimeout(() => load(entry, tries + 1), 300 * 2 ** tries);
  };
  image.onload = () => {
    entry.ready = true;
    if (shown === entry) reveal();
  };
  entry.source = `/image/${entry.question}${tries ? `?again=${tries}` : ""}`;
  image.src = entry.source;
  entry.image = image;
};

const take = (state) => {
  find("answered").textContent = state.answered;
  for (const question of state.questions) {
    if (known.has(question)) continue;
    known.add(question);
    const entry = { question, given: null };
    load(entry);
    queue.push(entry);
  }
  if (!shown && !over) {
    if (queue.length) next();
    else show(null, state.paused
      ? "The campaign is paused. This page goes on by itself."
      : "Nothing is left for you at the moment. Thank you! New images appear here by themselves.");
  }
};

const more = async () => {
  try {
    const answer = await post("/api/next", csrf);
    if (answer.status === 401 || answer.status === 403) end(answer.status);
    else if (answer.ok) take(await answer.json());
  } catch {
    // asked again below
  }
};

const given = () => ({
  labels: boxes.filter((box) => box.checked).map((box) => Number(box.value)),
  sensitive: sensitive.checked,
});

const fill = (answer) => {
  boxes.forEach((box) => { box.checked = Boolean(answer?.labels.includes(Number(box.value))); });
  none.checked = Boolean(answer && !answer.labels.length);
  sensitive.checked = Boolean(answer?.sensitive);
};

const reveal = () => {
  const image = find("shown");
  image.src = shown.source;
  image.hidden = false;
  find("told").textContent = "";
  since = performance.now();
};

const show = (entry, words) => {
  shown = entry;
  find("hint").textContent = "";
  fill(entry?.given ?? null);
  // Without an image there is nothing to select; going back is possible all the same.
  for (const part of form.querySelectorAll("fieldset, [name=sensitive], #submit")) {
    part.disabled = !entry;
  }
  const image = find("shown");
  image.dataset.question = entry?.question ?? "";
  if (entry?.ready) return reveal();
  image.hidden = true;
  find("told").textContent = words ?? "One moment …";
};

const next = () => {
  queue = queue.filter((entry) => !entry.broken);
  const entry = queue.shift() ?? null;
  show(entry, "One moment …");
  if (!entry) more();
};

const submit = () => {
  if (!shown?.ready) return;
  const answer = given();
  if (!answer.labels.length && !none.checked) {
    find("hint").textContent = "Select at least one, or “none of the above” (n).";
    return;
  }
  const before = shown.given;
  const same = before && JSON.stringify(before) === JSON.stringify(answer);
  if (!same) {
    const seconds = (performance.now() - since) / 1000;
    outbox.add({ question: shown.question, ...answer, seconds });
  }
  if (!before) {
    here += 1;
    const hours = (performance.now() - begun) / 3.6e6;
    if (here >= 5) find("pace").textContent = ` · ${Math.round(here / hours)} an hour`;
  }
  history.push({ question: shown.question, given: answer, image: shown.image,
    source: shown.source, ready: true });
  if (history.length > 200) history.shift();
  next();
};

const undo = async () => {
  if (over) return;
  let entry = history.pop();
  if (!entry) {
    const before = shown?.question ?? queue[0]?.question;
    const answer = await fetch(`/api/previous${before ? `?before=${before}` : ""}`).catch(() => null);
    const found = answer?.ok ? await answer.json() : null;
    if (!found) {
      find("hint").textContent = "There is no image before this one.";
      return;
    }
    entry = { question: found.question, given: { labels: found.labels, sensitive: found.sensitive } };
    load(entry);
  }
  // What stood here is next again, as it was answered if it was.
  if (shown) queue.unshift(shown);
  show(entry, "One moment …");
};

form.addEventListener("change", ({ target }) => {
  find("hint").textContent = "";
  if (target === none && none.checked) boxes.forEach((box) => { box.checked = false; });
  if (target.name === "label" && target.checked) none.checked = false;
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
find("undo").addEventListener("click", undo);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const { key, target } = event;
  if (key === "Enter") {
    // A button that has the focus is what Enter means.
    if (target.closest("button, a")) return;
    event.preventDefault();
    if (!event.repeat) submit();
  } else if (key === "Backspace" || key.toLowerCase() === "u") {
    event.preventDefault();
    undo();
  } else if (keys.has(key.toLowerCase()) && shown) {
    event.preventDefault();
    const box = keys.get(key.toLowerCase());
    box.checked = !box.checked;
    box.dispatchEvent(new Event("change", { bubbles: true }));
  }
});

outbox.flush();
more();
setInterval(() => { if (!over && !shown) more(); }, ASK_AGAIN);
