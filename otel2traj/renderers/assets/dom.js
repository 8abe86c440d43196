// Elements out of words. Text only ever enters through textContent: nothing recorded can become markup.

const byId = (id) => document.getElementById(id);

/** An element with properties, attributes (those with a dash, and role) and children; null children are left out. */
function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key.includes("-") || key === "role" || key === "id" || key === "for") node.setAttribute(key, value);
    else node[key] = value;
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(wordOf(child))));
  }
  return node;
}

/** A number that JavaScript would change, as the digits that were recorded. */
class Digits {
  constructor(source) { this.source = source; }
  toString() { return this.source; }
  toJSON() { return JSON.rawJSON(this.source); }
}

const wordOf = (child) => typeof child === "object" && !(child instanceof Digits) ? JSON.stringify(child) : String(child);

const UNSEEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]|\\p{Surrogate}", "gu");

/** Control, bidirectional and unseen characters spelled out, as `otel2traj show` spells them. */
function visible(text) {
  return text.replace(UNSEEN, (char) => {
    const code = char.codePointAt(0);
    if (char === "\r") return "\\r";
    if (code < 0x100) return "\\x" + code.toString(16).padStart(2, "0");
    return code < 0x10000 ? "\\u" + code.toString(16).padStart(4, "0") : "\\U" + code.toString(16).padStart(8, "0");
  });
}

/** A recorded value as text: strings as they are, JSON short on one line and long indented. */
function valueText(value) {
  if (typeof value === "string") return value;
  if (isCut(value)) return value.head + "\n[cut when stored: " + value.size + " bytes in all, sha256 " + value.sha256 + "]";
  const compact = JSON.stringify(value);
  return compact === undefined ? "" : compact.length <= 96 ? compact : JSON.stringify(value, null, 2);
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Digits);
const listOf = (value) => Array.isArray(value) ? value : [];
const isCut = (value) => isObject(value) && value.truncated === true && "sha256" in value && "head" in value;
const number = (value) => value.toLocaleString("en-US");
const pill = (tone, ...words) => el("span", { class: "pill " + tone }, ...words);

const TONES = { "✓": "good", "✗": "bad", "~": "warn", "?": "plain" };
/** How a run ended, as a pill: `[mark, words, reason, said by]` of the index. */
const endedPill = ([mark, words]) => pill(TONES[mark] ?? "plain", mark + " " + words);

/** A button that copies a text; where the browser gives no clipboard to this page, it says so. */
function copyButton(text) {
  const button = el("button", { type: "button", class: "small copy" }, "Copy");
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "No clipboard here"; }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return button;
}

const TREE = 60000;

/** A recorded value: JSON laid out with folding, in a value or in a text; anything else as `content`. Pictures are drawn
 *  below, and a line stands for each. */
function valueView(value, className) {
  const blobs = [], folded = foldBlobs(value, blobs), text = valueText(folded);
  let data = folded;
  if (typeof folded === "string" && folded.length <= TREE && /^\s*[[{]/.test(folded)) {
    try { data = parseExact(folded); } catch { data = folded; }
  }
  if (typeof folded === "string" && data !== folded) data = foldBlobs(data, blobs);
  const tree = data !== null && typeof data === "object" && !(data instanceof Digits) && !isCut(data) && text.length > 96 && text.length <= TREE;
  return el("div", { class: "value" }, copyButton(valueText(value)), tree ? el("div", { class: "tree" }, branch(null, data, 0)) : content(text, className), blobs.map(blobView));
}

function branch(key, value, depth) {
  const name = key === null ? null : el("span", { class: "key" }, key + ": ");
  if (value === null || typeof value !== "object" || value instanceof Digits)
    return el("div", { class: "leaf" }, name, typeof value === "string" ? content(value) : el("span", { class: "mono" }, JSON.stringify(value)));
  const entries = Array.isArray(value) ? value.map((item, n) => [String(n), item]) : Object.entries(value);
  const size = Array.isArray(value) ? "[" + entries.length + "]" : "{" + entries.length + "}";
  if (!entries.length) return el("div", { class: "leaf" }, name, el("span", { class: "mono" }, Array.isArray(value) ? "[]" : "{}"));
  return el("details", { open: depth < 2 || entries.length < 4 && depth < 4 }, el("summary", null, name, el("span", { class: "muted mono" }, size)),
    entries.map(([inner, item]) => branch(inner, item, depth + 1)));
}

const LONG = 6000;

/** Content in a box; a long one opens on demand, piece by piece, so that one huge value cannot stall the page. */
function content(text, className) {
  const pre = el("pre", { class: className || null });
  if (text.length <= LONG) {
    pre.textContent = visible(text);
    return pre;
  }
  let shown = LONG;
  const more = el("button", { type: "button", class: "small" });
  const draw = () => {
    pre.textContent = visible(text.slice(0, shown));
    more.hidden = shown >= text.length;
    more.textContent = "Show more: " + number(text.length - shown) + " of " + number(text.length) + " characters are left";
    if (!more.hidden) pre.append("\n", more);
  };
  more.addEventListener("click", () => { shown = shown === LONG ? 200000 : shown * 4; draw(); });
  pre.openTo = (wanted) => {
    const at = text.toLowerCase().indexOf(wanted);
    if (at + wanted.length > shown) { shown = at + wanted.length + LONG; draw(); }
  };
  draw();
  return pre;
}

function seconds(ms) {
  if (ms === null) return null;
  if (ms >= 0 && ms < 100) return ms + " ms";
  if (Math.abs(ms) < 60000) return (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + " s";
  return Math.floor(ms / 60000) + " min " + Math.round((ms % 60000) / 1000) + " s";
}
