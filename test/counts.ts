import { randomInt } from 'node:crypto'

export const isFull = process.env['TEST_FULL'] === '1'

/** A test of long data, which runs in `npm run test:random` only. */
export const itInFull = (title: string, test: Mocha.AsyncFunc): void => {
  if (isFull) it(title, test)
}

const repetitions = (fast: number, full: number): number => (isFull ? full : fast)

/** How often the repeated tests repeat: the first figure in `npm test`, the second with TEST_FULL=1 (`npm run test:all`). */
export const COUNTS = {
  // random cases
  asOfPositions: repetitions(2, 40),
  usageRollups: repetitions(60, 20_000),
  usageAnswers: repetitions(6, 200),
  usageFields: repetitions(6, 200),
  usageTotals: repetitions(1, 100),
  usageSums: repetitions(12, 300),
  usageAgreements: repetitions(1, 100),
  budgetCharges: repetitions(1, 150),
  hostileBlocks: repetitions(10_000, 1_000_000),
  conversations: repetitions(100, 1_000),
  mergedParts: repetitions(6, 500),
  inheritedDeletions: repetitions(15, 300),
  mixedBatches: repetitions(12, 200),
  stats: repetitions(2, 30),
  selectionQuestions: repetitions(5, 600),
  digestLogs: repetitions(1, 8),
  digestTableRows: repetitions(60_000, 300_000),
  objectReplays: repetitions(1, 8),
  objectReplayPositions: repetitions(1, 2),
  matchingHistories: repetitions(200, 10_000),
  bucketZones: repetitions(20, 500),
  answers: repetitions(40, 3_000),
  streamedAnswers: repetitions(100, 5_000),
  /** They are cut in many pieces, some of 64 KiB and more. */
  endpointStreams: repetitions(60, 300),
  budgets: repetitions(50, 3_000),
  templates: repetitions(1_000, 50_000),
  priceHistories: repetitions(50, 3_000),
  deliveryCosts: repetitions(1, 24),
  callReplays: repetitions(2, 30),
  feedbackReplays: repetitions(2, 30),
  deliveryReplays: repetitions(2, 10),
  lawBatches: repetitions(1, 100),
  expressionMeanings: repetitions(30, 1_500),
  largestExpressions: repetitions(14, 100),
  textValues: repetitions(1, 8),
  objectSequences: repetitions(2, 24),
  tableModels: repetitions(4, 120),
  backtests: repetitions(30, 400),
  packs: repetitions(60, 3_000),
  packedReads: repetitions(60, 1_500),
  steppedTexts: repetitions(100, 2_000),
  samples: repetitions(3, 100),
  tracePages: repetitions(1, 60),
  overviews: repetitions(1, 60),
  teamUsages: repetitions(2, 60),
  threads: repetitions(3, 100),
  fuzzRequests: repetitions(120, 10_000),
  spoiltSpanRequests: repetitions(200, 10_000),
  shapedRequests: repetitions(1, 4),
  mutatedAnswers: repetitions(40, 2_000),
  fuzzSeed: Number(process.env['FUZZ_SEED'] ?? repetitions(1, randomInt(2 ** 31))),

  // kills, outages and races
  kills: repetitions(1, 50),
  sdkRestarts: repetitions(1, 10),
  rescoreKills: repetitions(2, 30),
  rescoredRows: repetitions(200, 2_000),
  rebuildKills: repetitions(2, 10),
  erasureKills: repetitions(3, 20),
  /** Cuts a rebuild off after every so many exchanged tables. */
  rebuildCutStep: repetitions(20, 1),
  migrationRaces: repetitions(1, 20),
  /** Cuts the migrations off after every so many statements. */
  migrationCutStep: repetitions(18, 3),
  outageKinds: repetitions(2, 100),
  serverFaults: Number(process.env['TEST_ROUNDS'] ?? repetitions(2, 30)),
  serverFaultsSeed: Number(process.env['TEST_SEED'] ?? repetitions(1, randomInt(2 ** 31))),
  eventStoreOutages: repetitions(1, 4),
  clickHouseOutageMs: repetitions(500, 10_000),
  crashPoints: repetitions(1, 5),
  gracefulStops: repetitions(1, 10),
  secretKills: repetitions(1, 10),
  dispatcherKills: repetitions(1, 100),
  dispatcherKillEvents: repetitions(20, 100),
  dispatchersOverServer: repetitions(1, 4),
  completionKills: repetitions(2, 20),
  spanKills: repetitions(1, 30),
  wandbKills: repetitions(3, 25),
  trainingKills: repetitions(4, 30),
  wandbRows: repetitions(10_000, 100_000),
  completionsBetweenKills: repetitions(60, 900),
  loadSeconds: repetitions(2, 20),
  callsUnderLoad: repetitions(5_000, 50_000),
  packingKills: repetitions(2, 40),
  sealingKills: repetitions(3, 40),
  /** More take an hour or so, by hand. */
  sealedEvents: Number(process.env['TEST_EVENTS'] ?? repetitions(2_000, 10_000)),
  tornTails: repetitions(2, 40),
  rebuiltStateEvents: repetitions(30, 1_000),
  waitingDeliveries: repetitions(100, 10_000),
  slowEndpointEvents: repetitions(3, 50),
  hostileAnswers: repetitions(1, 20),
  decompressionBombBytes: repetitions(200_000_000, 400_000_000),
  hostilePatterns: repetitions(1, 3),
  sendsPerKind: repetitions(5, 20),

  /** 0 skips the soak test. */
  soakMinutes: Number(process.env['SOAK_MINUTES'] ?? repetitions(0, 30)),
}
