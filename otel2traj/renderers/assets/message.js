// A message of any recorded shape into a role and pieces, with nothing left out: the twin of renderers/messages.py.

const TEXTS = ["text", "input_text", "output_text", "summary_text"];
const THOUGHTS = ["reasoning", "thinking", "thought"];
const CALLS = ["tool_call", "tool_use", "function_call"];
const RESULTS = ["tool_call_response", "tool_result", "function_call_output"];
const ROLES = { human: "user", ai: "assistant", system: "system", tool: "tool", function_call: "assistant",
  reasoning: "assistant", function_call_output: "tool" };
const SPEAKERS = { model: "assistant", ai: "assistant", human: "user" };
const KNOWN = ["role", "type", "name", "content", "parts", "tool_calls", "tool_call_id", "refusal", "reasoning_content"];

const said = (value) => value !== null && value !== undefined;
const firstOf = (data, ...keys) => data[keys.find((key) => said(data[key]))];
const piece = (kind, value, id, name) => ({ kind, value, id: id ?? null, name: name ?? null });

/** Arguments that are an object in JSON text as that object; anything else, and numbers that would change, as it is. */
function opened(value) {
  if (typeof value !== "string" || /\d{16}|\d[.eE]/.test(value)) return value;
  try {
    const inner = JSON.parse(value);
    return isObject(inner) ? inner : value;
  } catch {
    return value;
  }
}

function readCall(data) {
  const inner = isObject(data.function) ? data.function : data;
  return piece("tool call", opened(firstOf(inner, "arguments", "args", "input")), firstOf(data, "call_id", "id"), inner.name);
}

function readPart(part) {
  if (typeof part === "string") return piece("text", part);
  if (!isObject(part)) return piece("other", part);
  const kind = part.type;
  if (TEXTS.includes(kind) && said(firstOf(part, "content", "text"))) return piece("text", firstOf(part, "content", "text"));
  if (THOUGHTS.includes(kind) && said(firstOf(part, "content", "text", "thinking")))
    return piece("reasoning", firstOf(part, "content", "text", "thinking"));
  if (kind === "refusal" && said(firstOf(part, "content", "refusal"))) return piece("refusal", firstOf(part, "content", "refusal"));
  if (CALLS.includes(kind)) return readCall(part);
  if (RESULTS.includes(kind)) {
    const key = ["response", "output", "content", "result"].find((name) => name in part);
    return piece("tool result", flat(part[key]), firstOf(part, "tool_use_id", "call_id", "id"), part.name);
  }
  if (kind === undefined && isObject(part.functionCall))
    return piece("tool call", part.functionCall.args, part.functionCall.id, part.functionCall.name);
  if (kind === undefined && isObject(part.functionResponse))
    return piece("tool result", part.functionResponse.response, part.functionResponse.id, part.functionResponse.name);
  if (kind === undefined && typeof part.text === "string" && Object.keys(part).every((key) => key === "text" || key === "thought"))
    return piece(part.thought === true ? "reasoning" : "text", part.text);
  return piece("other", part);
}

/** A list of nothing but text parts as their text; anything else as it is. */
function flat(value) {
  if (!Array.isArray(value) || !value.length) return value;
  const pieces = value.map(readPart);
  return pieces.every((one) => one.kind === "text" && typeof one.value === "string")
    ? pieces.map((one) => one.value).join("\n") : value;
}

function readMessage(message) {
  if (!isObject(message))
    return { role: typeof message === "string" ? "user" : "unknown", name: null, pieces: [readPart(message)] };
  const kind = typeof message.type === "string" ? message.type : "";
  const told = typeof message.role === "string" && message.role ? message.role : ROLES[kind] ?? (kind || "message");
  const role = SPEAKERS[told] ?? told;
  if (CALLS.includes(kind) || RESULTS.includes(kind)) return { role, name: null, pieces: [readPart(message)] };
  const pieces = [];
  if (said(message.reasoning_content)) pieces.push(piece("reasoning", message.reasoning_content));
  const callId = typeof message.tool_call_id === "string" ? message.tool_call_id : null;
  if (callId !== null || role === "tool") {
    if ("content" in message) pieces.push(piece("tool result", flat(message.content), callId, message.name));
  } else if (Array.isArray(message.content)) pieces.push(...message.content.map(readPart));
  else if (said(message.content) && message.content !== "") pieces.push(readPart(message.content));
  if (Array.isArray(message.parts)) pieces.push(...message.parts.map(readPart));
  else if (said(message.parts)) pieces.push(piece("other", message.parts));
  if (said(message.refusal)) pieces.push(piece("refusal", message.refusal));
  if (Array.isArray(message.tool_calls))
    pieces.push(...message.tool_calls.map((call) => isObject(call) ? readCall(call) : piece("other", call)));
  const rest = Object.entries(message).filter(([key, value]) =>
    !KNOWN.includes(key) && said(value) && !(typeof value === "object" && !Object.keys(value).length));
  if (rest.length) pieces.push(piece("other", Object.fromEntries(rest)));
  const results = pieces.length > 0 && pieces.every((one) => one.kind === "tool result");
  return { role: results ? "tool" : role, name: typeof message.name === "string" ? message.name : null, pieces };
}

function pieceView(one) {
  if (one.kind === "text") return el("div", { class: "piece" }, spoken(one.value));
  const blobs = [], folded = one.kind === "other" ? foldBlobs(one.value, blobs) : null;
  if (blobs.length === 1 && JSON.stringify(folded).length < 200) return el("div", { class: "piece" }, blobView(blobs[0]));
  const head = el("div", { class: "kind" }, one.kind + " ", one.name !== null && el("b", null, one.name),
    one.id !== null && el("span", { class: "mono" }, " " + one.id));
  return el("div", { class: "piece" }, head, said(one.value) &&
    el("div", { class: "inset" }, valueView(one.value, one.kind === "reasoning" || one.kind === "refusal" ? "prose" : null)));
}

function messageView(message, position) {
  const one = readMessage(message);
  return el("div", { class: "say" },
    el("div", { class: "role" }, one.role, one.name !== null && el("small", null, one.name), el("small", null, "message " + position)),
    el("div", null, one.pieces.length ? one.pieces.map(pieceView) : el("span", { class: "muted" }, "(empty)")));
}
