// Requests to the server of this page. A refusal is an Error with the server's sentence.

/** A refusal by the server, in its words; `kind` is the name of its error, `status` that of the answer, `said` the whole answer. */
export class Refusal extends Error {
  constructor(sentence, kind, status, said = {}) {
    super(sentence);
    Object.assign(this, { name: "Refusal", kind, status, said });
  }
}

/** No answer at all: the server has stopped, or the connection broke. */
export class Silence extends Error {
  constructor() {
    super("The server does not answer. If it has stopped, start it again with `ordag explore`, which prints a new address.");
    this.name = "Silence";
  }
}

/** Whether an error is only that a request was cancelled. */
export const isAbort = (error) => error.name === "AbortError";

/** Send a request. body: undefined for GET; a Blob or File is sent as it is, anything else as JSON. */
export async function ask(path, body, { signal, headers = {}, as = "json" } = {}) {
  const answer = await reply(path, body, signal, headers);
  try {
    return await answer[as]();
  } catch (error) {
    throw isAbort(error) ? error : new Silence();
  }
}

/** Ask for a file; gives { blob, name }. */
export async function file(path, body) {
  const answer = await reply(path, body, undefined, {});
  const said = answer.headers.get("Content-Disposition") ?? "";
  const [, coded] = /filename\*=UTF-8''([^;]+)/i.exec(said) ?? [],
    [, plain] = /filename="?([^";]+)/i.exec(said) ?? [];
  try {
    return { blob: await answer.blob(), name: coded ? decodeURIComponent(coded) : (plain ?? "") };
  } catch {
    throw new Silence();
  }
}

/** Ask for work that may take long, with `progress({ share, words })` calls; gives the result. Aborting the signal ends the work. */
export async function stream(path, body, progress = () => {}, signal = undefined) {
  const answer = await reply(path, body, signal, {});
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "",
    result;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop();
      for (const line of lines.filter((one) => one.trim())) {
        const said = JSON.parse(line);
        if (said.error !== undefined) throw new Refusal(said.error, said.kind ?? "", 200);
        if (said.result !== undefined) ({ result } = said);
        if (said.progress) progress(said.progress);
      }
      if (done && result === undefined) throw new Silence();
      if (done) return result; // at the end of the stream, so that the connection can be used again
    }
  } catch (error) {
    throw isAbort(error) || error instanceof Refusal ? error : new Silence();
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Whether the server answers at all. */
export async function isThere() {
  try {
    return (await fetch("browser/server.js", { method: "HEAD", cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

async function reply(path, body, signal, headers) {
  const plain = body === undefined || body instanceof Blob;
  let answer;
  try {
    answer = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      body: plain ? body : JSON.stringify(body),
      headers: { ...(plain ? {} : { "Content-Type": "application/json" }), ...headers },
      signal,
      cache: "no-store",
    });
  } catch (error) {
    throw isAbort(error) ? error : new Silence();
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Refusal(said.error ?? `The server answered with ${answer.status}.`, said.kind ?? "", answer.status, said);
}
