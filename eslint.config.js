import { defineConfig, globalIgnores } from 'eslint/config'
import reactHooks from 'eslint-plugin-react-hooks'
import tseslint from 'typescript-eslint'

const returnsPromise = (signature) =>
  signature.parameters.length === 0 && signature.getReturnType().getProperty('then') !== undefined

/** Two traps that no published rule sees: a Task nobody runs, and a rule switched off without saying why. */
const house = {
  rules: {
    'no-unrun-task': {
      meta: {
        messages: { unrun: 'This builds a Task and never runs it: call it, return it, or say `void`.' },
      },
      create: (context) => ({
        ExpressionStatement({ expression }) {
          if (expression.type !== 'CallExpression') return
          const type = context.sourceCode.parserServices.getTypeAtLocation(expression)
          if (type.getCallSignatures().some(returnsPromise))
            context.report({ node: expression, messageId: 'unrun' })
        },
      }),
    },
    'explain-disable': {
      meta: { messages: { unexplained: 'Say why: `eslint-disable-next-line <rule> -- <reason>`.' } },
      create: (context) => ({
        Program() {
          for (const { type, value, loc } of context.sourceCode.getAllComments()) {
            const directive = type === 'Block' ? /^\s*eslint(-disable|\s)/u : /^\s*eslint-disable/u
            if (!directive.test(value) || /\s--\s+\S/u.test(value)) continue
            // The column before the line's first keeps the comment from switching off its own report.
            const before = { line: loc.start.line, column: -1 }
            context.report({ loc: { start: before, end: loc.end }, messageId: 'unexplained' })
          }
        },
      }),
    },
  },
}

const compiledEsm = {
  regex: '^(fp-ts|io-ts)/(?!lib/[A-Za-z]+\\.js$)',
  message: "Only 'fp-ts/lib/Name.js' and 'io-ts/lib/Name.js' survive compilation to ESM.",
}

const environment = 'src/config.ts is the only reader of the environment.'
const noEnvironment = { object: 'process', property: 'env', message: environment }

/** Without I/O, timers or state: the domain, and what it stands on. */
const pureFiles = [
  'src/domain/**/*.ts',
  'src/kernel/{codec,json,ports,spill}/**/*.ts',
  'src/kernel/{circuit-breaker,decider,event,ids,later,pages,sorted,uuid-of-digest}.ts',
]

const pure = 'The domain is pure: time, new ids and the actor arrive inside the command.'
const stateless = 'The domain keeps no state of its own: caches, locks and timers are in src/kernel.'
const impureGlobals = [
  'crypto',
  'fetch',
  'performance',
  'process',
  'setImmediate',
  'setInterval',
  'setTimeout',
]

const noOnly = {
  selector:
    'MemberExpression[property.name="only"][object.name=/^(context|describe|it|specify|suite|test)$/]',
  message: '`.only` silences every other test.',
}

/** Folders whose comments and names do not follow the wording rules yet. Remove a folder once it is rewritten. */
const notPlainEnglish = [
  'src/adapters/event-store/**',
  'src/gateway/{completions,limits,upstreams}/**',
  'src/gateway/gateway.ts',
]

/** Words that usually paraphrase a standard term of the field. */
const paraphrases = [
  ...['a second time', 'anew', 'as it were', 'beside', 'come into being', 'goes away', 'nobody', 'of before'],
  ...['put aside', 'so many', 'so much', 'somebody', 'stands', 'stood', 'tells', 'those that', 'those who'],
  ...['what hangs', 'what waits', 'whoever', 'whom'],
]

/** Type names that do not say what they are the state or the request of. */
const vagueNames = [
  ...['Asked', 'Begun', 'Charged', 'Ended', 'Executed', 'Found', 'Given', 'Held', 'Kept', 'Known', 'Limited'],
  ...['Loaded', 'Made', 'Said', 'Sent', 'Shown', 'Standing', 'Taken', 'Told', 'Waiting', 'Walked', 'Wanted'],
  ...['Watched'],
]

const lines = (max) => ['warn', { max, skipBlankLines: false, skipComments: false }]

export default defineConfig(
  globalIgnores(['dist/', 'data/', 'coverage/', '**/.venv*/', 'web/schema.d.ts']),
  {
    linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' },
    plugins: { house },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'house/explain-disable': 'error',
      'no-case-declarations': 'error',
      'no-cond-assign': 'error',
      'no-constant-binary-expression': 'error',
      'no-control-regex': 'error',
      'no-debugger': 'error',
      'no-dupe-else-if': 'error',
      'no-duplicate-case': 'error',
      'no-empty': 'error',
      'no-empty-character-class': 'error',
      'no-irregular-whitespace': 'error',
      'no-misleading-character-class': 'error',
      'no-restricted-imports': ['error', { patterns: [compiledEsm] }],
      'no-self-assign': 'error',
      'no-self-compare': 'error',
      'no-sparse-arrays': 'error',
      'no-unsafe-finally': 'error',
      'no-unsafe-optional-chaining': 'error',
      'no-useless-assignment': 'error',
      'no-useless-catch': 'error',
      'no-useless-escape': 'error',
      'preserve-caught-error': 'error',
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'house/no-unrun-task': 'error',
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // Type-level code says `Record<never, never>` where it means no fields.
      '@typescript-eslint/no-generated-empty-object-type': 'off',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      // Under noUncheckedIndexedAccess an index within known bounds is written `items[i]!`.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      // A type argument that repeats the default may be there for the reader.
      '@typescript-eslint/no-unnecessary-type-arguments': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      // An in-memory adapter keeps a promise's shape without awaiting anything.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // A union over events or commands ends in a default that either ignores the rest or assigns `never`.
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
    },
  },
  { files: ['demo/**/*.{ts,mjs}'], rules: { 'max-lines': lines(250) } },
  {
    files: ['src/**/*.ts'],
    rules: {
      'max-lines': lines(350),
      'no-restricted-imports': [
        'error',
        {
          patterns: [compiledEsm],
          paths: ['node:process', 'process'].map((name) => ({
            name,
            importNames: ['env'],
            message: environment,
          })),
        },
      ],
      'no-restricted-properties': ['error', noEnvironment],
    },
  },
  { files: ['src/config.ts'], rules: { 'no-restricted-properties': 'off' } },
  {
    files: pureFiles,
    rules: {
      'no-restricted-globals': [
        'error',
        { globals: impureGlobals.map((name) => ({ name, message: pure })), checkGlobalObject: true },
      ],
      'no-restricted-properties': [
        'error',
        noEnvironment,
        { object: 'Date', property: 'now', message: pure },
        { object: 'Math', property: 'random', message: pure },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: pure },
        { selector: 'CallExpression[callee.name="Date"]', message: pure },
        { selector: 'Program > VariableDeclaration[kind="let"]', message: stateless },
        { selector: 'NewExpression[callee.name=/^Weak(Map|Set|Ref)$/]', message: stateless },
      ],
    },
  },
  {
    files: ['web/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      'max-lines': lines(350),
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
    },
  },
  {
    files: ['src/**/*.ts', 'web/**/*.{ts,tsx}'],
    ignores: notPlainEnglish,
    rules: {
      'id-denylist': ['error', ...vagueNames],
      'no-warning-comments': ['error', { location: 'anywhere', terms: paraphrases }],
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'max-lines': lines(450),
      'no-restricted-syntax': ['error', noOnly],
      // Answers of the service are looked into as they come; the assertion is the check.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
    },
  },
)
