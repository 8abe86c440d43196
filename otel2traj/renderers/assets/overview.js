// The run as a whole: what went wrong, how far the evidence reaches, inputs and their files, sources.

const RECORD = { complete: "complete", partial: "partial: some evidence is lost or ambiguous", failed: "failed: the trajectory could not be built" };
const LISTED = 100;

async function overviewView(run) {
  const index = run.index, head = index.header;
  const fact = (name, value) => said(value) && el("div", null, el("dt", null, name), el("dd", null, value));
  const inputs = await Promise.all(index.inputs.map((number) => run.value(number)));
  const [warnings, sources] = [await run.value(index.warnings[1]), await run.value(index.sources[1])];
  const [mark, words, reason, saidBy] = index.ended;
  return [
    el("h2", { id: "heading", tabIndex: -1 }, "How it ended", endedPill(index.ended)),
    el("div", { class: "banner " + (TONES[mark] ?? "plain") }, el("strong", null, mark + " " + words), reason && el("div", { class: "mono" }, reason),
      index.mixed && el("div", null, index.mixed),
      saidBy && el("div", { class: "muted" }, "said by the " + { input_result: "recorded result of the Input", run: "record of the run", build: "build" }[saidBy])),
    index.error && el("div", { class: "banner bad" }, el("strong", null, "✗ The trajectory could not be built"), content(valueText(index.error))),
    el("h3", null, "What went wrong"), problemsView(index, true),
    index.problems.some((problem) => !problem[PROBLEM.failure]) && el("h3", null, "What is not known"),
    index.problems.some((problem) => !problem[PROBLEM.failure]) && problemsView(index, false),
    el("h3", null, "Task"), el("div", { class: "box" }, spoken(index.title)),
    said(index.answer) && el("h3", null, index.answer_of ? "Answer to input " + index.answer_of : "Answer"), said(index.answer) && el("div", { class: "box" }, spoken(index.answer)),
    el("h3", null, "Agents, and who called whom"), agentsView(run),
    el("h3", null, "Totals"), totalsView(index),
    el("dl", { class: "facts" }, fact("run", head.run_id), fact("case", head.case_id), fact("agent", head.agent_id), fact("framework", head.framework), fact("from", index.label)),
    inputs.length > 0 && el("h3", null, inputs.length === 1 ? "Input and its files" : "Inputs and their files"),
    ...inputs.map(inputCard),
    el("h3", null, "The record"), el("p", { class: "muted" }, "record " + RECORD[index.status]), coverageView(index),
    warnings.length > 0 && el("h3", null, "Warnings (" + warnings.length + ")"),
    warnings.length > 0 && longList(warnings, (warning) => el("li", null, pill("warn", "!"), el("span", { class: "mono" }, warning))),
    el("details", null, el("summary", null, "Sources (" + sources.length + ")"),
      longList(sources, (source) => el("li", null, el("span", { class: "mono" }, source.path), el("span", { class: "mono muted" }, "sha256 " + source.sha256)))),
    more("Metadata", await run.value(index.metadata)),
  ].filter(Boolean);
}

const PROBLEM = { kind: 0, failure: 1, step: 2, agent: 3, what: 4, reason: 5, recovered: 6, ordinal: 7 };

function problemsView(index, failures) {
  const found = index.problems.filter((problem) => problem[PROBLEM.failure] === failures);
  if (!found.length)
    return el("div", { class: "box muted" }, ["✓", "?"].includes(index.ended[0]) ? "no failure recorded" : "no single failure was recorded");
  const row = ([kind, , step, agent, what, reason, recovered, ordinal]) => el("tr", null,
    el("td", null, pill(!failures || recovered ? "warn" : "bad", (failures ? "✗ " : kind === "ambiguous link" ? "~ " : "? ") + kind)),
    el("td", { class: "n" }, step === null ? (ordinal ? "Input " + ordinal : "run") : el("a", { href: "#step-" + step }, "step " + step)),
    el("td", { class: failures ? "mono reason" : "mono" }, failures ? reason : what), el("td", null, agent ?? ""),
    failures && el("td", { class: "mono" }, what ?? ""), failures && el("td", { class: "muted then" }, recovered === null ? "" : recovered ? "recovered" : "not recovered"));
  const names = failures ? ["What", "Where", "Reason", "Agent", "Tool or model", "Then"] : ["What", "Where", "Of", "Agent"];
  const body = el("tbody", null, found.slice(0, LISTED).map(row));
  const table = el("table", { class: "table" }, el("thead", null, el("tr", null, names.map((name) => el("th", { scope: "col" }, name)))), body);
  if (found.length <= LISTED) return table;
  const rest = el("button", { type: "button" }, "Show " + (found.length - LISTED) + " more");
  rest.addEventListener("click", () => { body.append(...found.slice(LISTED, 5000).map(row)); rest.remove(); });
  return el("div", null, table, rest);
}

function totalsView(index) {
  const models = index.steps.filter((row) => row[ROW.kind] === "model").length;
  const done = index.steps.reduce((sum, row) => sum + row[ROW.logs].filter((log) => log[LOG.execution] !== "not_observed").length, 0);
  const tokens = (count) => said(count) ? number(count) : "not recorded";
  return el("div", { class: "tiles" }, tile(number(index.steps.length), "steps"), tile(number(models), "model calls"), tile(number(done), "tool executions"),
    tile(tokens(index.tokens[0]), "tokens in"), tile(tokens(index.tokens[1]), "tokens out"), costTile(index), tile(said(index.seconds) ? seconds(Math.round(index.seconds * 1000)) : "not recorded", "from first to last"));
}

/** What the calls cost together by the price table in this page's making; calls without a price are counted. */
function costTile(index) {
  const [cost, unpriced, table] = index.cost;
  if (!said(cost)) return tile("not known", unpriced ? "cost: no price for " + number(unpriced) + (unpriced === 1 ? " call" : " calls") : "cost");
  const box = tile(cost, unpriced ? "cost, and " + number(unpriced) + " calls without a price" : "cost");
  box.title = "US dollars by the price table of " + table;
  return box;
}

const tile = (value, name, tone) => el("div", { class: "tile" }, el("b", { class: tone && value ? tone + "-ink" : null }, value), el("span", null, name));

function coverageView(index) {
  const c = index.coverage;
  const some = (count, name) => count > 0 && tile(number(count), name);
  return el("div", { class: "tiles" }, tile(number(c.model_calls), "model calls"), tile(number(c.tool_calls), "tool calls"), some(index.exact, "= exact links"),
    some(c.ambiguous_links, "~ ambiguous links"), some(c.unobserved_tool_executions, "? not observed"), some(c.unlinked_tool_calls, "executions without a call"),
    said(c.inferred_links) ? some(c.inferred_links, "i inferred, not linked") : tile("off", "i inferred, not linked"), some(c.file_changes, "file changes"));
}

function inputCard(item) {
  const status = isObject(item.result) ? item.result.status : null, good = ["succeeded", "completed"].includes(status);
  const range = item.step_range;
  return el("div", { class: "box" },
    el("div", { class: "head" }, el("strong", null, "Input " + item.ordinal), said(status) ? pill(good ? "good" : "bad", (good ? "✓ " : "✗ ") + status) : pill("plain", "no result recorded"),
      range ? el("a", { href: "#step-" + range[0] }, range[0] === range[1] ? "step " + range[0] : "steps " + range[0] + "–" + range[1]) : el("span", { class: "muted" }, "no step")),
    el("div", null, said(item.prompt) ? spoken(item.prompt) : el("span", { class: "muted" }, "(prompt not recorded)")),
    isObject(item.result) && el("details", null, el("summary", null, "Result"), valueView(item.result)),
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

/** Agents as their recorded names nest them: `lead/researcher` was called by `lead`. */
function agentsView(run) {
  const sums = new Map();
  for (const row of run.index.steps) {
    const name = run.index.agents[row[ROW.agent]] ?? "(not recorded)", levels = name.split("/");
    for (let depth = 1; depth < levels.length; depth++) {
      const above = levels.slice(0, depth).join("/");
      if (!sums.has(above)) sums.set(above, { name: above, steps: 0, failed: 0, first: null });
    }
    if (!sums.has(name)) sums.set(name, { name, steps: 0, failed: 0, first: null });
    const sum = sums.get(name);
    sum.steps++;
    sum.failed += rowFailed(row) ? 1 : 0;
    sum.first ??= row[ROW.id];
  }
  const below = (name) => [...sums.values()].filter((sum) => name === null ? !sum.name.includes("/") :
    sum.name.startsWith(name + "/") && !sum.name.slice(name.length + 1).includes("/"));
  const node = (sum) => el("li", null, el("strong", null, sum.name.split("/").at(-1)), " ",
    sum.first === null ? el("span", { class: "muted" }, "no step of its own") : el("a", { href: "#step-" + sum.first }, number(sum.steps) + (sum.steps === 1 ? " step" : " steps")),
    sum.failed > 0 && pill("bad", "✗ " + number(sum.failed)), ...[below(sum.name)].filter((inner) => inner.length).map((inner) => el("ul", null, inner.map(node))));
  return el("ul", { class: "box agents" }, below(null).map(node));
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

/** Everything on one sheet, for print: the overview, then every step. */
async function reportView(run) {
  const out = [...await overviewView(run)];
  for (let at = 0; at < run.index.steps.length; at++) {
    const section = el("section", { class: "sheet" }, await stepView(run, at, () => {}));
    for (const node of section.querySelectorAll("[id]")) node.removeAttribute("id");
    out.push(section);
  }
  return out;
}

/** The list of runs, when the page holds many. */
function runsView(runs) {
  const row = (one, at) => el("tr", null, el("td", null, el("a", { href: "#run-" + (at + 1) + "/overview" }, one.label)), el("td", null, endedPill(one.ended)),
    el("td", { class: "mono" }, one.ended[2]), el("td", { class: "n" }, number(one.steps)), el("td", { class: "n" }, one.failures ? "✗ " + one.failures : "0"), el("td", { class: "n" }, one.unsure ? "? " + one.unsure : "0"),
    el("td", { class: "muted" }, one.title.slice(0, 140)));
  return [el("h2", { id: "heading", tabIndex: -1 }, runs.length + " runs"), el("table", { class: "table" },
    el("thead", null, el("tr", null, ["Run", "End", "Reason", "Steps", "Failures", "Not known", "Task"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", null, runs.map(row)))];
}
