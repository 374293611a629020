/** Parts of `kernel` without I/O, timers or state, which the domain may import. */
const PURE_KERNEL =
  '^src/kernel/((codec|json|ports|spill)/|(circuit-breaker|decider|event|ids|later|once-for|pages|sorted|uuid-of-digest)\\.ts$)'

/** Features in the order in which they build on each other, by the names of their folders. */
const FEATURES = [
  ...['projects', 'secrets', 'access', 'service', 'refs', 'files', 'objects', 'artifacts', 'runs'],
  ...['annotation-queues', 'feedback', 'prices', 'calls', 'usage', 'otel', 'tables', 'evaluations'],
  ...['webhooks', 'training', 'gateway', 'rebuilds', 'erasures', 'wandb', 'audit', 'pages'],
]

/** Files that import a later feature. Remove a file once it does not. */
const OUT_OF_ORDER = [
  'application/annotation-queues/items',
  'domain/webhooks/automations/matching/trigger-of',
  'projections/(annotation-queues/queries|calls/usage-fields)',
].map((files) => `^src/${files}\\.ts$`)

/** Within a room, a feature imports only those before it. */
const featuresInOrder = FEATURES.slice(0, -1).map((feature, index) => ({
  name: 'features-in-order',
  severity: 'error',
  from: { path: `^src/(domain|projections|application|dispatch|api)/${feature}/`, pathNot: OUT_OF_ORDER },
  to: { path: `^src/$1/(${FEATURES.slice(index + 1).join('|')})/` },
}))

/**
 * Each folder of `src/` imports only those before it:
 *
 *   kernel < domain < adapters, projections < application < gateway < dispatch, api < composition, cli < main
 *
 * Adapters are imported only where the process is composed; dispatch and api do not know each other.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
const TREE_IN_BUCKET = '^src/adapters/log-tree/(bucket-log-tree|head-object)\\.ts$'

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'kernel-stands-alone',
      comment: 'what every folder stands on imports none of them',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { path: '^src/', pathNot: '^src/kernel/' },
    },
    {
      name: 'domain-is-pure',
      comment: 'the domain imports fp-ts, io-ts, itself and the pure part of the kernel; no Node built-ins',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { pathNot: ['^src/domain/', PURE_KERNEL, '(^|/)node_modules/(fp-ts|io-ts)/'] },
    },
    {
      name: 'adapters-know-the-domain',
      comment: 'an adapter imports kernel, domain, packages and its own folder',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)', pathNot: TREE_IN_BUCKET },
      to: { path: '^src/', pathNot: '^src/(kernel/|domain/|adapters/$1(/|$))' },
    },
    {
      name: 'tree-in-a-bucket-knows-master-keys',
      comment: 'the keys of the log are in the bucket with its tree, encrypted as secrets are',
      severity: 'error',
      from: { path: TREE_IN_BUCKET },
      to: { path: '^src/', pathNot: '^src/(kernel/|domain/|adapters/(log-tree|secrets)/)' },
    },
    {
      name: 'projections-know-the-domain',
      severity: 'error',
      from: { path: '^src/projections/' },
      to: { path: '^src/', pathNot: '^src/(kernel/|domain/|projections/|files\\.ts$)' },
    },
    {
      name: 'engine-stands-alone',
      comment: 'the engine trains and samples; it knows nothing of the service',
      severity: 'error',
      from: { path: '^src/engine/' },
      to: { path: '^src/', pathNot: '^src/(engine/|files\\.ts$)' },
    },
    {
      name: 'application-knows-read-models',
      severity: 'error',
      from: { path: '^src/application/' },
      to: { path: '^src/', pathNot: '^src/(kernel/|domain/|projections/|application/|files\\.ts$)' },
    },
    {
      name: 'gateway-knows-use-cases',
      severity: 'error',
      from: { path: '^src/gateway/' },
      to: { path: '^src/', pathNot: '^src/(kernel|domain|projections|application|engine|gateway)/' },
    },
    {
      name: 'dispatch-does-not-know-the-api',
      severity: 'error',
      from: { path: '^src/dispatch/' },
      to: { path: '^src/', pathNot: '^src/(kernel|domain|projections|application|engine|gateway|dispatch)/' },
    },
    {
      name: 'api-does-not-know-dispatch',
      severity: 'error',
      from: { path: '^src/api/' },
      to: { path: '^src/', pathNot: '^src/(kernel|domain|projections|application|gateway|api)/' },
    },
    {
      name: 'only-roots-run-projections',
      comment: 'other folders query the read models; the roots start what fills and rebuilds them',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli/|composition/|projections/)' },
      to: { path: '^src/projections/(runtime/|(all|migrate)\\.ts$)' },
    },
    {
      name: 'koa-stays-in-the-api',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/api/' },
      to: { path: '(^|/)node_modules/(koa|@koa)/' },
    },
    {
      name: 'only-roots-compose',
      comment: 'adapters are chosen in main, cli and composition alone',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts$|cli\\.ts$|cli/|composition/|adapters/)' },
      to: { path: '^src/adapters/' },
    },
    {
      name: 'roots-are-not-imported',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/(main|cli)\\.ts$' },
    },
    {
      name: 'src-stands-alone',
      comment: 'what is shipped needs neither tests nor benchmarks nor the demo',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|demo|web)/' },
    },
    {
      name: 'src-ships-its-packages',
      comment: 'a package imported at run time stands under "dependencies"',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm', 'type-only'],
      },
    },
    {
      name: 'no-orphans-in-src',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(main|cli)\\.ts$', '\\.d\\.ts$'], orphan: true },
      to: {},
    },
    {
      name: 'pages-know-the-api-by-its-description',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^(src|test|bench|demo)/' },
    },
    {
      name: 'kit-of-pages-stands-alone',
      comment: 'what all pages use imports no feature; the frame around them imports any',
      severity: 'error',
      from: { path: '^web/kit/' },
      to: { path: '^web/', pathNot: '^web/(kit/|schema\\.d\\.ts$)' },
    },
    {
      name: 'pages-do-not-know-their-frame',
      severity: 'error',
      from: { path: '^web/', pathNot: '^web/(shell/|main\\.tsx$)' },
      to: { path: '^web/shell/' },
    },
    ...featuresInOrder,
    { name: 'every-import-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Imports of types count too: a type from the wrong room is the wrong room.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['main', 'types'],
    },
  },
}
