import * as E from 'fp-ts/lib/Either.js'
import { RunFailed, type ReadyScorer } from './ports.js'
import { compileBuiltIn } from '../../domain/evaluations/scorers/compile.js'
import { decodeScorer } from '../../domain/evaluations/scorers/scorer.js'
import type { httpScorer } from './http-scorer.js'
import type { judgeScorer } from './judge-scorer.js'
import type { ReadObject } from '../../domain/evaluations/resolve-judge.js'
import type { ScoreRow } from '../../domain/evaluations/scoring.js'
import type { Json } from '../../kernel/json/json.js'
import { scoringTools } from '../../composition/scoring-tools.js'

/** Scorers that ask another service. */
export interface RemoteScorers {
  /** Undefined in a process without a gateway. */
  readonly judge: ReturnType<typeof judgeScorer> | undefined
  readonly http: ReturnType<typeof httpScorer>
}

export type PrepareScorer = (ref: string, value: Json, read: ReadObject) => Promise<ReadyScorer>

export const NO_GATEWAY = 'this process has no gateway to models: give it the role api'

/** Judges of one run at a time; the gateway has limits of its own. */
const JUDGE_CONCURRENCY = 8

/**
 * Prepares the scorer that an object of the object store describes.
 *
 * @throws RunFailed where the object is not a scorer
 */
export const preparingScorers =
  (remote: RemoteScorers): PrepareScorer =>
  async (ref, value, read) => {
    const decoded = decodeScorer(ref, value)
    if (E.isLeft(decoded)) throw new RunFailed(decoded.left)
    const scorer = decoded.right
    const base = { ref, name: scorer.name, reason: '', isLocal: false, maxPerSecond: null }
    switch (scorer.kind) {
      case 'built-in': {
        const compiled = compileBuiltIn(scoringTools)(scorer)
        if (E.isLeft(compiled)) throw new RunFailed(compiled.left)
        const score: ScoreRow = async (row) => compiled.right(row)
        return { ...base, score, isLocal: true, maxConcurrency: 1 }
      }
      case 'llm-judge': {
        const score = (await remote.judge?.(scorer, read)) ?? null
        const reason = score === null ? NO_GATEWAY : ''
        return { ...base, score, reason, maxConcurrency: JUDGE_CONCURRENCY }
      }
      case 'http': {
        const { max_concurrency, max_per_second } = scorer.settings
        return {
          ...base,
          score: remote.http(scorer),
          maxConcurrency: max_concurrency,
          maxPerSecond: max_per_second,
        }
      }
      case 'code': {
        const reason =
          `${scorer.className} is code of an SDK, which the service cannot run; ` +
          'serve it over HTTP and use an HTTPScorer (docs/evaluations.md)'
        return { ...base, score: null, reason, maxConcurrency: 1 }
      }
    }
  }
