// The data of the page: compressed parts that are opened when somebody looks, and a few kept open.

const ROW = { id: 0, ordinal: 1, agent: 2, kind: 3, source: 4, start: 5, end: 6, model: 7, status: 8, tokensIn: 9,
  tokensOut: 10, preview: 11, logs: 12, inferred: 13, failures: 14, cost: 15, part: 16, at: 17 };
const LOG = { tool: 0, execution: 1, link: 2, exit: 3, exitFailed: 4, inferred: 5, start: 6, end: 7 };
const FAILURE = { kind: 0, reason: 1, tool: 2 };
const MODE = byId("mode").textContent, LIVE = MODE === "live";
const OPEN_PARTS = 24;

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The compressed bytes of a name: from the page itself, or from the page's own server. */
async function packed(name, version) {
  if (LIVE) {
    const answer = await fetch("data/" + name + (version === undefined ? "" : "?v=" + version), { cache: "no-store" });
    if (!answer.ok) throw new Error("the server has no " + name);
    return new Uint8Array(await answer.arrayBuffer());
  }
  let node = byId(name);
  while (!node && document.readyState === "loading") {
    await new Promise((resume) => setTimeout(resume, 20));
    node = byId(name);
  }
  if (!node) throw new Error("this page has no part " + name);
  return fromBase64(node.textContent);
}

const packedJson = async (name, version) => JSON.parse(new TextDecoder().decode(await inflate(await packed(name, version))));

const ODD_NUMBER = /[:[,]-?(?:\d{16}|\d+\.\d*0[,}\]]|\d[\d.]*[eE]|0?\.0000|\d+\.\d{15})|[:[,]-0/;
const EXACT = typeof JSON.rawJSON === "function";

/** JSON whose numbers stay as they were recorded: 0.0 is not shown as 0, nor a long identifier rounded. */
function parseExact(text) {
  if (!EXACT || !ODD_NUMBER.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value, context) =>
    typeof value === "number" && context.source !== String(value) ? new Digits(context.source) : value);
}

/** One run: its index, and its steps, values and raw records by number. */
class Run {
  constructor(number, index, version) {
    this.number = number;
    this.index = index;
    this.version = version;
    this.open = new Map();
    this.rowOf = new Map(index.steps.map((row, at) => [row[ROW.id], at]));
    this.ends = index.firsts.slice(1);
  }

  static async load(number, version) {
    return new Run(number, await packedJson("a" + number + "-index", version), version);
  }

  get parts() { return this.index.firsts.length; }

  async bytes(kind, part) { return inflate(await packed("a" + this.number + "-" + kind + part, this.version)); }

  /** `{f, s, v, o}` of a part; the promise is kept, so that two askers open it once. */
  part(number) {
    let found = this.open.get(number);
    if (found) this.open.delete(number);
    else found = this.bytes("c", number).then((bytes) => parseExact(new TextDecoder().decode(bytes)));
    this.open.set(number, found);
    if (this.open.size > OPEN_PARTS) this.open.delete(this.open.keys().next().value);
    return found;
  }

  async step(at) {
    const row = this.index.steps[at];
    return (await this.part(row[ROW.part])).s[row[ROW.at]];
  }

  async value(number) {
    let low = 0, high = this.parts - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.index.firsts[middle] <= number) low = middle; else high = middle - 1;
    }
    const part = await this.part(low);
    return part.v[number - part.f];
  }

  /** The recorded bytes of a record, or null where the page has none. */
  async raw(place) {
    if (!place) return null;
    const [part, offset, length] = place;
    return (await this.bytes("r", part)).subarray(offset, offset + length);
  }

  agent(row) { return this.index.agents[row[ROW.agent]] ?? "(agent not recorded)"; }
}

/** Whether a row holds a failure; whether a link or an execution of it is unsure. */
const rowFailed = (row) => row[ROW.failures].length > 0 || row[ROW.status] !== "complete";
const logFailed = (log) => log[LOG.execution] === "error" || log[LOG.exitFailed];
const rowUnsure = (row) => row[ROW.inferred] ||
  row[ROW.logs].some((log) => log[LOG.link] === "ambiguous" || log[LOG.execution] === "not_observed" || log[LOG.inferred]);
const numbersOf = (spans) => spans.flatMap(([a, b]) => Array.from({ length: b - a + 1 }, (_, i) => a + i));

/**
 * Look for words through all parts, one after the other, and tell `found(positions, done, of)` after each.
 * Stops when `going()` is false. A message counts for the step that first had it.
 */
async function searchParts(run, words, found, going) {
  const wanted = words.toLowerCase();
  const inJson = JSON.stringify(wanted).slice(1, -1);
  for (let n = 0; n < run.parts && going(); n++) {
    const text = new TextDecoder().decode(await run.bytes("c", n));
    const hits = new Map();
    if (text.toLowerCase().includes(inJson)) {
      const part = parseExact(text);
      const first = run.index.steps.findIndex((row) => row[ROW.part] === n);
      part.s.forEach((record, i) => note(hits, first + i, record.i, wanted));
      part.v.forEach((value, i) => note(hits, part.o[i], value, wanted));
    }
    if (going()) found(hits, n + 1, run.parts);
    await new Promise((resume) => setTimeout(resume));
  }
}

function note(hits, at, value, wanted) {
  if (hits.has(at)) return;
  const stack = [value];
  while (stack.length) {
    const one = stack.pop();
    if (typeof one === "string" || typeof one === "number") {
      const text = String(one);
      const where = text.toLowerCase().indexOf(wanted);
      if (where >= 0) {
        hits.set(at, text.slice(Math.max(0, where - 30), where + wanted.length + 90));
        return;
      }
    } else if (one !== null && typeof one === "object") {
      for (const [key, inner] of Object.entries(one)) if (key !== "sha256" && key !== "records") stack.push(inner);
    }
  }
}
