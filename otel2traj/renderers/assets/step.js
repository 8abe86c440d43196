// One step, for a reader: what it was given, what it answered, what its tools did, where the bytes are.

const EXECUTION = { succeeded: ["good", "✓ succeeded"], error: ["bad", "✗ error"], not_observed: ["warn", "? not observed"] };
const LINK = { exact: ["plain", "= exact link"], ambiguous: ["warn", "~ ambiguous link"], none: ["plain", "– no link"] };
const MANY = 60;

async function stepView(run, at, go) {
  const record = await run.step(at), row = run.index.steps[at], step = record.i;
  const parts = [
    stepHead(run, at, row, step, go),
    stepBanner(row, step),
    await inputView(run, at, record, go),
    ...answerView(step),
    step.tool_logs.length > 0 && el("h3", null, step.tool_logs.length === 1 ? "Tool" : step.tool_logs.length + " tools"),
    ...step.tool_logs.map((log) => logView(run, record, log, go)),
    el("h3", { id: "evidence", tabIndex: -1 }, "Evidence of this step"),
    places(run, record, step.evidence),
    more("Identifiers and digests", Object.fromEntries(Object.entries(step.evidence).filter(([key]) => key !== "records"))),
  ];
  return parts.filter(Boolean);
}

function stepHead(run, at, row, step, go) {
  const steps = run.index.steps;
  const heading = el("h2", { id: "heading", tabIndex: -1 }, "Step " + step.step_id, el("span", { class: "who" }, run.agent(row)),
    step.kind === "tool_only" && pill("plain", "tool execution that no model call emitted"),
    step.status === "failed" && pill("bad", "✗ failed"), step.status === "incomplete" && pill("warn", "? no response recorded"));
  heading.style.setProperty("--agent", agentColour(row[ROW.agent]));
  const usage = isObject(step.output.usage) ? step.output.usage : {};
  const fact = (name, value) => said(value) && el("div", null, el("dt", null, name), el("dd", null, value));
  const took = row[ROW.start] !== null && row[ROW.end] !== null ? seconds(row[ROW.end] - row[ROW.start]) : null;
  return el("div", null,
    el("div", { class: "steps-nav" },
      el("button", { type: "button", class: "small", disabled: at === 0, onclick: () => go(at - 1) }, "← previous"),
      el("button", { type: "button", class: "small", disabled: at === steps.length - 1, onclick: () => go(at + 1) }, "next →")),
    heading,
    el("dl", { class: "facts" }, fact("model", step.model), fact("recorded by", step.source), fact("input", step.input_ordinal ?? "not told by identifiers"),
      fact("started", step.started_at), fact("took", took), fact("tokens in", usage.input_tokens), fact("cached", usage.cache_read_input_tokens),
      fact("tokens out", usage.output_tokens), fact("reasoning", usage.reasoning_output_tokens), fact("finish", step.output.finish_reason),
      said(row[ROW.cost]) && fact("cost", row[ROW.cost].startsWith("$") ? row[ROW.cost] : "not known: " + row[ROW.cost]),
      step.purpose !== "unknown" && fact("purpose", step.purpose)));
}

function stackView(evidence) {
  const told = evidence.exception;
  if (!isObject(told) || typeof told.stacktrace !== "string") return null;
  return el("details", { class: "box" }, el("summary", null, "Stack of " + (told.type ?? "the error")), valueView(told.stacktrace));
}

function stepBanner(row, step) {
  const out = [];
  for (const failure of row[ROW.failures].filter((one) => one[FAILURE.tool] === null))
    out.push(el("div", { class: "banner bad" }, el("strong", null, "✗ " + failure[FAILURE.kind]), " ", el("span", { class: "mono" }, failure[FAILURE.reason])));
  if (said(step.output.http_status)) out.push(el("p", { class: "muted" }, "HTTP status " + step.output.http_status));
  for (const key of ["wire_error", "error"])
    if (said(step.output[key])) out.push(el("div", { class: "box" }, el("strong", null, key === "error" ? "Error" : "Wire error"), valueView(step.output[key])));
  const stack = stackView(step.evidence);
  if (stack) out.push(stack);
  if (step.output.output_source === "framework")
    out.push(el("div", { class: "banner warn" }, "The answer below is the framework's record; the wire holds none."));
  const guess = step.evidence.inferred_call;
  if (isObject(guess))
    out.push(el("div", { class: "banner note" }, "i Inferred, not linked: probably call " + guess.tool_call_id + " of ",
      el("a", { href: "#step-" + guess.step_id }, "step " + guess.step_id), ", by rule " + guess.rule + "."));
  return out.length ? el("div", null, out) : null;
}

/** The request: system and tools folded, messages that an earlier step had folded, new ones in full. */
async function inputView(run, at, record, go) {
  const asked = record.i.input, box = el("div", { class: "says" });
  const out = el("section", null, el("h3", null, "Input", bytesButton(record.i.evidence, "request", "span_start", "span")), box);
  if (said(record.y)) {
    const system = await run.value(record.y);
    box.append(el("div", { class: "say" }, el("div", { class: "role" }, "system"),
      el("details", null, el("summary", null, valueText(system).slice(0, 120).replace(/\s+/g, " ")), spoken(system))));
  }
  if (record.m) await foldMessages(run, at, record.m, box, go);
  else if (said(asked.messages)) box.append(messageView(asked.messages, 1));
  if (said(record.t)) {
    const tools = await run.value(record.t);
    const names = Array.isArray(tools) ? tools.map((tool) => (isObject(tool) && ((isObject(tool.function) && tool.function.name) || tool.name || tool.type)) || "?").map(wordOf) : [];
    box.append(el("div", { class: "say" }, el("div", { class: "role" }, "tools", el("small", null, names.length + " offered")),
      el("details", null, el("summary", null, names.join(", ")), content(JSON.stringify(tools, null, 2)))));
  }
  const rest = Object.entries(asked).filter(([key, value]) => key !== "messages" && said(value));
  if (rest.length)
    box.append(el("div", { class: "say" }, el("div", { class: "role" }, "settings"), content(rest.map(([key, value]) => key + ": " + valueText(value)).join("\n"))));
  return box.childNodes.length ? out : null;
}

async function foldMessages(run, at, spans, box, go) {
  const numbers = numbersOf(spans), before = await knownBefore(run, at, numbers);
  if (before.count > 0) {
    const open = el("button", { type: "button", class: "small" }, "Show them");
    const fold = el("div", { class: "fold" }, "Messages 1–" + before.count + " as in ",
      el("a", { href: "#step-" + run.index.steps[before.at][ROW.id] }, "step " + run.index.steps[before.at][ROW.id]), open);
    open.addEventListener("click", async () => {
      const first = Math.max(0, before.count - MANY);
      const views = await Promise.all(numbers.slice(first, before.count).map(async (n, i) => messageView(await run.value(n), first + i + 1)));
      fold.replaceWith(...(first > 0 ? [foldRest(run, numbers, first)] : []), ...views);
    });
    box.append(fold);
  }
  for (let i = before.count; i < numbers.length; i++) box.append(messageView(await run.value(numbers[i]), i + 1));
}

function foldRest(run, numbers, end) {
  const open = el("button", { type: "button", class: "small" }, "Show " + Math.min(MANY, end) + " more");
  const fold = el("div", { class: "fold" }, "Messages 1–" + end, open);
  open.addEventListener("click", async () => {
    const first = Math.max(0, end - MANY);
    const views = await Promise.all(numbers.slice(first, end).map(async (n, i) => messageView(await run.value(n), first + i + 1)));
    fold.replaceWith(...(first > 0 ? [foldRest(run, numbers, first)] : []), ...views);
  });
  return fold;
}

/** How many of the first messages the nearest earlier step of this agent had too, and which step that is. */
async function knownBefore(run, at, numbers) {
  let best = { count: 0, at: 0 };
  const agent = run.index.steps[at][ROW.agent];
  for (let other = at - 1, looked = 0; other >= 0 && looked < 12; other--) {
    if (run.index.steps[other][ROW.agent] !== agent || run.index.steps[other][ROW.kind] !== "model") continue;
    looked++;
    const record = await run.step(other);
    if (!record.m) continue;
    const theirs = numbersOf(record.m);
    let same = 0;
    while (same < theirs.length && same < numbers.length && theirs[same] === numbers[same]) same++;
    if (same > best.count) best = { count: same, at: other };
    if (same === theirs.length && same > 0) break;
  }
  return best;
}

function answerView(step) {
  const { output } = step, boxes = [];
  if (said(output.reasoning) && output.reasoning !== "")
    boxes.push(el("h3", null, "Reasoning"), el("div", { class: "box" }, spoken(output.reasoning)));
  if (said(output.text) && output.text !== "")
    boxes.push(el("h3", null, "Answer", bytesButton(step.evidence, "response", "span_end", "span")), el("div", { class: "box" }, spoken(output.text)));
  if (said(output.refusal)) boxes.push(el("h3", null, "Refusal"), el("div", { class: "box" }, spoken(output.refusal)));
  const logged = new Set(step.tool_logs.map((log) => log.tool_call_id));
  const calls = listOf(output.tool_calls).map((call) => isObject(call) ? readCall(call) : piece("other", call)).filter((call) => !logged.has(call.id));
  if (calls.length) boxes.push(el("h3", null, "Calls"), el("div", { class: "box" }, calls.map(pieceView)));
  for (const part of listOf(output.other_parts)) boxes.push(el("h3", null, "Other part of the answer"), el("div", { class: "box" }, valueView(part)));
  if (Array.isArray(output.choices) && output.choices.length > 1) boxes.push(more("All " + output.choices.length + " choices", output.choices));
  return boxes;
}

function exitWords(status) {
  if (!isObject(status)) return null;
  const words = [said(status.exitCode) && "exit " + status.exitCode, said(status.signal) && "signal " + status.signal].filter(Boolean);
  return words.join(", ") || "exit status without a code";
}

/** How long an execution took by its recorded times; null where one is missing or is no time. */
function logTook(log) {
  const took = Date.parse(log.evidence.ended_at) - Date.parse(log.evidence.started_at);
  return Number.isNaN(took) ? null : seconds(took);
}

function logView(run, record, log, go) {
  const exit = exitWords(log.exit_status);
  const exitBad = isObject(log.exit_status) && ((said(log.exit_status.exitCode) && log.exit_status.exitCode !== 0) || said(log.exit_status.signal));
  const [tone, words] = EXECUTION[log.execution_status] ?? ["plain", log.execution_status];
  const [linkTone, linkWords] = LINK[log.link] ?? ["plain", log.link];
  const guess = log.evidence.inferred;
  const side = log.execution_status === "error" || exitBad ? "is-bad" : log.execution_status === "not_observed" || log.link === "ambiguous" ? "is-warn" : "is-good";
  const box = el("div", { class: "box log " + side },
    el("div", { class: "head" }, el("span", { class: "tool" }, log.tool_name ?? "(no name recorded)"), pill(tone, words), pill(linkTone, linkWords),
      exit !== null && pill(exitBad ? "bad" : "plain", (exitBad ? "✗ " : "") + exit), isObject(guess) && pill("note", "i inferred"),
      logTook(log) !== null && el("span", { class: "muted" }, logTook(log)),
      log.tool_call_id !== null && el("span", { class: "mono muted" }, log.tool_call_id)));
  if (isObject(guess))
    box.append(el("p", null, "Inferred, not linked: the execution is probably ", el("a", { href: "#step-" + guess.step_id }, "step " + guess.step_id), ", by rule " + guess.rule + "."));
  if (said(log.input_arguments)) box.append(el("h4", null, "Arguments"), el("div", { class: "inset" }, valueView(log.input_arguments)));
  if (said(log.outputs)) box.append(el("h4", null, "Output"), el("div", { class: "inset" }, valueView(log.outputs)));
  else if (log.execution_status === "not_observed") box.append(el("p", { class: "muted" }, "The model asked for this; no execution of it was recorded."));
  if (said(log.evidence.error)) box.append(el("h4", null, "Error"), el("div", { class: "inset" }, valueView(log.evidence.error)));
  const stack = stackView(log.evidence);
  if (stack) box.append(stack);
  if (isObject(log.evidence.reported_result) && log.execution_status === "not_observed") box.append(reportedView(run, log));
  if (Array.isArray(log.evidence.candidates))
    box.append(el("p", null, "Candidates, none taken as fact: ", el("span", { class: "mono" }, log.evidence.candidates.map(valueText).join(", "))));
  if (Array.isArray(log.evidence.records) && log.evidence.records.length) box.append(el("h4", null, "Evidence"), ...places(run, record, log.evidence).childNodes);
  return box;
}

/** What a later request told the model of a call whose execution nobody recorded: the text, and where it stands. */
function reportedView(run, log) {
  const told = log.evidence.reported_result, at = run.rowOf.get(told.step_id);
  const box = el("p", { class: "muted" }, "Reported to the model by ", said(told.step_id) ? el("a", { href: "#step-" + told.step_id }, "step " + told.step_id) : "a later request");
  if (at !== undefined) fillReported(run, at, log.tool_call_id, box).catch((err) => box.append(" (" + err.message + ")"));
  return box;
}

async function fillReported(run, at, id, box) {
  const record = await run.step(at), numbers = record.m ? numbersOf(record.m) : [];
  for (let n = numbers.length - 1; n >= 0; n--) {
    const found = readMessage(await run.value(numbers[n])).pieces.find((one) => one.kind === "tool result" && one.id === id);
    if (!found) continue;
    box.append(", message " + (n + 1) + ":");
    box.after(el("div", { class: "inset" }, valueView(found.value)));
    return;
  }
}

function more(title, value) {
  return el("details", { class: "box" }, el("summary", null, title), valueView(value));
}
