// ESLint's rules for page, package and tests: `tests/node_modules/.bin/eslint -c tests/eslint.config.js web wasm
// tests`.
import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/node_modules/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: "module" },
    rules: {
      "no-unused-vars": ["error", { ignoreRestSiblings: true, argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "no-regex-spaces": "off",
      "no-control-regex": "off",
    },
  },
  { files: ["**/web/**"], languageOptions: { globals: { ...globals.browser, ...globals.worker } } },
  { files: ["**/wasm/package/**"], languageOptions: { globals: globals.node } },
  { files: ["**/tests/**"], languageOptions: { globals: { ...globals.browser, ...globals.node } } },
];
