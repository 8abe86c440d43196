// The run as a whole: what went wrong, how far the evidence reaches, inputs and their files, sources.

const STATUS = { complete: ["good", "✓ complete"], partial: ["warn", "~ partial"], failed: ["bad", "✗ failed"] };
const LISTED = 100;

async function overviewView(run) {
  const index = run.index, head = index.header;
  const fact = (name, value) => said(value) && el("div", null, el("dt", null, name), el("dd", null, value));
  const inputs = await Promise.all(index.inputs.map((number) => run.value(number)));
  const [warnings, sources] = [await run.value(index.warnings[1]), await run.value(index.sources[1])];
  return [
    el("h2", { id: "heading", tabIndex: -1 }, "Overview", pill(...STATUS[index.status])),
    el("dl", { class: "facts" }, fact("run", head.run_id), fact("case", head.case_id), fact("agent", head.agent_id), fact("framework", head.framework), fact("from", index.label)),
    index.error && el("div", { class: "banner bad" }, el("strong", null, "✗ The trajectory could not be built"), content(valueText(index.error))),
    el("h3", null, "Task"), el("div", { class: "box" }, content(index.title, "prose")),
    el("h3", null, "What went wrong"), problemsView(index),
    el("h3", null, "Coverage"), coverageView(index),
    warnings.length > 0 && el("h3", null, "Warnings (" + warnings.length + ")"),
    warnings.length > 0 && longList(warnings, (warning) => el("li", null, pill("warn", "!"), el("span", { class: "mono" }, warning))),
    inputs.length > 0 && el("h3", null, inputs.length === 1 ? "Input and its files" : "Inputs and their files"),
    ...inputs.map(inputCard),
    el("h3", null, "Agents"), agentsView(run),
    el("h3", null, "Sources (" + sources.length + ")"),
    longList(sources, (source) => el("li", null, el("span", { class: "mono" }, source.path), el("span", { class: "mono muted" }, "sha256 " + source.sha256))),
    more("Metadata", await run.value(index.metadata)),
  ].filter(Boolean);
}

function problemsView(index) {
  if (!index.problems.length) return el("div", { class: "box" }, pill("good", "✓ no failure, no gap recorded"));
  const sorted = [...index.problems].sort((a, b) => b[1] - a[1] || a[2] - b[2]);
  const row = ([trouble, failure, step, agent, what, detail]) => el("tr", null,
    el("td", null, pill(failure ? "bad" : "warn", (failure ? "✗ " : trouble === "ambiguous link" ? "~ " : "? ") + trouble)),
    el("td", { class: "n" }, el("a", { href: "#step-" + step }, "step " + step)), el("td", null, agent ?? "(not recorded)"),
    el("td", { class: "mono" }, what), el("td", { class: "muted" }, detail));
  const body = el("tbody", null, sorted.slice(0, LISTED).map(row));
  const table = el("table", { class: "table" }, el("thead", null, el("tr", null, ["What", "Where", "Agent", "Tool or model", "Recorded"].map((name) => el("th", { scope: "col" }, name)))), body);
  if (sorted.length <= LISTED) return table;
  const rest = el("button", { type: "button" }, "Show " + (sorted.length - LISTED) + " more");
  rest.addEventListener("click", () => { body.append(...sorted.slice(LISTED, 5000).map(row)); rest.remove(); });
  return el("div", null, table, rest);
}

function coverageView(index) {
  const c = index.coverage;
  const tile = (value, name, tone) => el("div", { class: "tile" }, el("b", { class: tone && value ? tone + "-ink" : null }, value), el("span", null, name));
  return el("div", { class: "tiles" }, tile(number(index.steps.length), "steps"), tile(number(c.model_calls), "model calls"), tile(number(c.tool_calls), "tool calls"),
    tile(number(index.exact), "= exact links"), tile(number(c.ambiguous_links), "~ ambiguous links"), tile(number(c.unobserved_tool_executions), "? not observed"),
    tile(number(c.unlinked_tool_calls), "executions without a call"), tile(said(c.inferred_links) ? number(c.inferred_links) : "off", "i inferred, not linked"),
    tile(number(c.file_changes), "file changes"),
    tile(said(index.tokens[0]) ? number(index.tokens[0]) : "not recorded", "tokens in"), tile(said(index.tokens[1]) ? number(index.tokens[1]) : "not recorded", "tokens out"));
}

function inputCard(item) {
  const status = isObject(item.result) ? item.result.status : null, good = ["succeeded", "completed"].includes(status);
  const range = item.step_range;
  return el("div", { class: "box" },
    el("div", { class: "head" }, el("strong", null, "Input " + item.ordinal), said(status) ? pill(good ? "good" : "bad", (good ? "✓ " : "✗ ") + status) : pill("plain", "no result recorded"),
      range ? el("a", { href: "#step-" + range[0] }, range[0] === range[1] ? "step " + range[0] : "steps " + range[0] + "–" + range[1]) : el("span", { class: "muted" }, "no step")),
    el("p", null, said(item.prompt) ? content(valueText(item.prompt), "prose") : el("span", { class: "muted" }, "(prompt not recorded)")),
    isObject(item.result) && el("details", null, el("summary", null, "Result"), content(JSON.stringify(item.result, null, 2))),
    listOf(item.file_changes).filter(isObject).map(changeView));
}

function changeView(change) {
  const kind = change.change_type ?? (!said(change.before) ? "created" : !said(change.after) ? "deleted" : "modified");
  const sign = { created: "+", added: "+", deleted: "−", removed: "−", renamed: "→" }[kind] ?? "~";
  const title = [el("strong", null, sign + " " + kind + " "), el("span", { class: "mono" }, String(change.path) + (said(change.old_path) ? " (was " + change.old_path + ")" : ""))];
  if (typeof change.diff !== "string")
    return el("details", null, el("summary", null, title, el("span", { class: "muted" }, " no text diff recorded")), content(JSON.stringify(change, null, 2)));
  const box = el("details", { open: change.diff.length < 4000 }, el("summary", null, title));
  const draw = () => { if (box.open && !box.querySelector(".diff")) box.append(diffView(change.diff)); };
  box.addEventListener("toggle", draw);
  draw();
  return box;
}

function diffView(text) {
  const lines = text.replace(/\n$/, "").split("\n"), shown = lines.slice(0, 2000);
  const tone = (line) => /^(\+\+\+|---|@@)/.test(line) ? "at" : line[0] === "+" ? "add" : line[0] === "-" ? "del" : null;
  return el("div", { class: "diff", tabIndex: 0, role: "group", "aria-label": "diff" }, shown.map((line) => el("div", { class: tone(line) }, line || " ")),
    lines.length > shown.length && el("div", { class: "at" }, (lines.length - shown.length) + " more lines are not shown"));
}

function agentsView(run) {
  const sums = run.index.agents.map((name) => ({ name: name ?? "(not recorded)", steps: 0, failed: 0, first: null }));
  for (const row of run.index.steps) {
    const sum = sums[row[ROW.agent]];
    sum.steps++;
    sum.failed += rowFailed(row) ? 1 : 0;
    sum.first ??= row[ROW.id];
  }
  const head = ["Agent", "Steps", "With a failure", "First"].map((name) => el("th", { scope: "col" }, name));
  return el("table", { class: "table" }, el("thead", null, el("tr", null, head)), el("tbody", null, sums.map((sum) => el("tr", null,
    el("td", null, sum.name), el("td", { class: "n" }, number(sum.steps)), el("td", { class: "n" }, sum.failed ? "✗ " + number(sum.failed) : "0"),
    el("td", { class: "n" }, sum.first !== null && el("a", { href: "#step-" + sum.first }, "step " + sum.first))))));
}

function longList(items, view) {
  const list = el("ul", { class: "places" }, items.slice(0, LISTED).map(view));
  const box = el("div", { class: "box" }, list);
  if (items.length > LISTED) {
    const rest = el("button", { type: "button", class: "small" }, "Show " + number(items.length - LISTED) + " more");
    rest.addEventListener("click", () => { list.append(...items.slice(LISTED, 10000).map(view)); rest.remove(); });
    box.append(rest);
  }
  return box;
}

/** The list of runs, when the page holds many. */
function runsView(runs, open) {
  const row = (one, at) => el("tr", null, el("td", null, el("a", { href: "#run-" + (at + 1) + "/overview" }, one.label)), el("td", null, pill(...STATUS[one.status])),
    el("td", { class: "n" }, number(one.steps)), el("td", { class: "n" }, one.failures ? "✗ " + one.failures : "0"), el("td", { class: "n" }, one.unsure ? "? " + one.unsure : "0"),
    el("td", { class: "muted" }, one.title.slice(0, 140)));
  return [el("h2", { id: "heading", tabIndex: -1 }, runs.length + " runs"), el("table", { class: "table" },
    el("thead", null, el("tr", null, ["Run", "Status", "Steps", "Failures", "Unsure", "Task"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", null, runs.map(row)))];
}
