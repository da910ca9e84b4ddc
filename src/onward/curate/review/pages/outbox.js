/* Votes on their way: kept in this browser until the server says that they are on its disk. */
const LONGEST_WAIT = 8000;

export const post = (path, csrf, body) =>
  fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body ?? {}),
  });

export class Outbox {
  /* `kept` is called with the server's answer, `told` with what to say about saving. */
  constructor(csrf, { kept, told, ended }) {
    Object.assign(this, { csrf, kept, told, ended });
    this.name = `onward-outbox-${csrf.slice(0, 16)}`;
    this.waiting = this.#remembered();
    this.sending = false;
  }

  get questions() {
    return this.waiting.map((vote) => vote.question);
  }

  add(vote) {
    this.waiting.push({ key: crypto.randomUUID?.() ?? this.#random(), ...vote });
    this.#remember();
    this.flush();
  }

  async flush() {
    if (this.sending) return;
    this.sending = true;
    let wait = 400;
    while (this.waiting.length) {
      this.told(this.waiting.length, wait > 400);
      const [vote] = this.waiting;
      let answer = null;
      try {
        answer = await post("/api/answer", this.csrf, vote);
      } catch {
        // The server is away; the vote stays here.
      }
      if (answer?.status === 401 || answer?.status === 403) {
        this.ended(answer.status);
        break;
      }
      if (answer?.ok) {
        wait = 400;
        this.#drop();
        this.kept(await answer.json());
      } else if (answer?.status === 409 || answer?.status === 422) {
        this.#drop(); // it can never be kept, and must not keep the others back
      } else {
        await new Promise((resolve) => setTimeout(resolve, wait));
        wait = Math.min(2 * wait, LONGEST_WAIT);
      }
    }
    this.sending = false;
    if (!this.waiting.length) this.told(0, false);
  }

  // Pages without HTTPS, on another machine than this one, have no randomUUID.
  #random() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  #drop() {
    this.waiting.shift();
    this.#remember();
  }

  #remember() {
    try {
      localStorage.setItem(this.name, JSON.stringify(this.waiting));
    } catch {
      // then a reload forgets what was not sent
    }
  }

  #remembered() {
    try {
      const found = JSON.parse(localStorage.getItem(this.name) ?? "[]");
      return Array.isArray(found) ? found : [];
    } catch {
      return [];
    }
  }
}
