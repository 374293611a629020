/** What reads of an earlier state are sent for, by the paths of the API. Others of these pages read the present. */
export const READS_AS_OF: ReadonlySet<string> = new Set([
  '/api/pages/calls',
  '/api/pages/calls/summary',
  '/api/pages/comparison',
  '/api/pages/errors',
  '/api/pages/evaluation-rows',
  '/api/pages/evaluation-scores',
  '/api/pages/evaluation-trials',
  '/api/pages/evaluations',
  '/api/pages/explain',
  '/api/pages/fields',
  '/api/pages/overview',
  '/api/pages/thread',
  '/api/pages/threads',
  '/api/pages/trace',
  '/api/pages/values',
  '/call/read',
  '/calls/usage',
  '/feedback/query',
  '/leaderboards/read',
  '/obj/read',
  '/usage/query',
])

const PAGES_AS_OF =
  /^\/(?!-\/)[^/]+\/(?!-(?:\/|$))[^/]+(?:\/(?:traces|threads|usage|calls|compare|evaluations|objects)(?:\/.*)?)?$/

/** Whether the page at a path can show an earlier state. */
export const isPageAsOf = (path: string): boolean => PAGES_AS_OF.test(path)
