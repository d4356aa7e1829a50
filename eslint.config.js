// How the scripts of the report page are linted: see `make lint-page`.
import js from "@eslint/js";

// All that the scripts may use of the browser. Nothing here fetches, stores or evaluates.
const BROWSER = ["Blob", "Plotly", "URL", "document", "getComputedStyle", "matchMedia", "setTimeout", "ResizeObserver"];

export default [
  js.configs.recommended,
  {
    files: ["src/choral/report/scripts/*.js"],
    languageOptions: {
      ecmaVersion: 2023,
      sourceType: "module",
      globals: Object.fromEntries(BROWSER.map((name) => [name, "readonly"])),
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      complexity: ["error", 10],
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "max-lines": ["error", 250],
      "max-lines-per-function": ["error", 45],
      "max-params": ["error", 6],
      "no-duplicate-imports": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-param-reassign": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map((property) => ({
          property,
          message: "Names are untrusted: use textContent or element().",
        })),
      ],
      "no-shadow": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
      "sort-imports": ["error", { ignoreDeclarationSort: true }],
    },
  },
];
