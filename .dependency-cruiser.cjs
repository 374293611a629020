/**
 * Who may import whom, as `src/` is laid out: the domain in the middle, rooms around it that do not know
 * each other, and composition roots that know them all.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-is-pure',
      comment: 'the domain imports fp-ts, io-ts and itself; no Node built-ins',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { pathNot: ['^src/domain/', '(^|/)node_modules/(fp-ts|io-ts)/'] },
    },
    {
      name: 'runtime-knows-the-domain',
      comment: 'timers, locks, caches and followers that the other folders share',
      severity: 'error',
      from: { path: '^src/runtime/' },
      to: { path: '^src/', pathNot: '^src/(domain|runtime)/' },
    },
    {
      name: 'adapters-know-the-domain',
      comment: 'an adapter imports the domain, packages and its own folder',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)' },
      to: { path: '^src/', pathNot: '^src/(domain/|runtime/|adapters/$1(/|$))' },
    },
    {
      name: 'projections-know-the-domain',
      severity: 'error',
      from: { path: '^src/projections/' },
      to: {
        path: '^src/',
        pathNot: '^src/(domain/|runtime/|projections/|(files|yield-to-event-loop)\\.ts$)',
      },
    },
    {
      name: 'api-knows-the-domain-and-queries',
      comment: 'of the projections, the api sees queries and ports',
      severity: 'error',
      from: { path: '^src/api/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/(domain|runtime|api)/',
          '^src/yield-to-event-loop\\.ts$',
          '^src/projections/(.*/|)(queries[^/]*|ports?)\\.ts$',
          '^src/projections/(.*/|)(queries|ports)/',
        ],
      },
    },
    {
      name: 'dispatch-knows-the-domain',
      severity: 'error',
      from: { path: '^src/dispatch/' },
      to: { path: '^src/', pathNot: '^src/(domain|runtime|dispatch)/' },
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
      to: { path: '^(test|bench|demo)/' },
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
    { name: 'every-import-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Imports of types count too: a type from the wrong room is the wrong room.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['main', 'types'],
    },
  },
}
