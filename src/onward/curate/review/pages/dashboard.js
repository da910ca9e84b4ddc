/* The owner's page: drawn anew by the server every few seconds, and put in place. */
import { post } from "/static/outbox.js";

const csrf = document.querySelector("meta[name=csrf]").content;
const EVERY = 5000;

const refresh = async () => {
  const answer = await fetch("/owner").catch(() => null);
  const away = document.getElementById("away");
  away.hidden = Boolean(answer?.ok);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const live = document.getElementById("live");
  const focused = live.contains(document.activeElement);
  if (!focused) live.replaceChildren(...page.getElementById("live").childNodes);
  draw();
};

// Widths are set here: a strict policy has no style attributes.
const draw = () => {
  for (const bar of document.querySelectorAll("[data-share]")) {
    bar.style.inlineSize = `${100 * Number(bar.dataset.share)}%`;
  }
};

const act = async (action, body) => {
  const answer = await post(`/owner/${action}`, csrf, body);
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.detail);
  return said;
};

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-action]");
  if (!button) return;
  const { action, name } = button.dataset;
  if (action === "revoke" && !confirm(`Shut out ${name}? Their votes will no longer count.`)) return;
  button.disabled = true;
  button.blur();
  await act(action, name === undefined ? {} : { name }).catch((error) => alert(error.message));
  await refresh();
  button.disabled = false;
});

document.getElementById("invite").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = event.target.elements.name;
  const said = document.getElementById("link");
  try {
    const { link } = await act("invite", { name: field.value });
    said.textContent = `${field.value}: ${link}`;
    field.value = "";
  } catch (error) {
    said.textContent = error.message;
  }
  refresh();
});

draw();
setInterval(() => { if (!document.hidden) refresh(); }, EVERY);
