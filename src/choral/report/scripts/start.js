// Where the page starts: each section that Python wrote gets its charts, controls and buttons.

import { curvesView } from "./curves_view.js";
import { planButton } from "./downloads.js";
import { endAtRow } from "./elements.js";
import { pairsView } from "./pairs_view.js";
import { ranksView } from "./ranks_view.js";
import { makeSortable } from "./tables.js";
import { tablesView } from "./tables_view.js";

const VIEWS = { curves: curvesView, ranks: ranksView, pairs: pairsView, tables: tablesView };

document.documentElement.classList.remove("no-script");
document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll(".scroll").forEach(endAtRow);

for (const [id, view] of Object.entries(VIEWS)) {
  const section = document.getElementById(id);
  if (section) view(section);
}

const plan = document.getElementById("plan");
if (plan) plan.closest("details").after(planButton(plan));
