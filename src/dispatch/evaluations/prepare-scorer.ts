import * as E from 'fp-ts/lib/Either.js'
import { RunFailed, type EvaluationServices } from '../../application/evaluations/services.js'
import { readObjectAs, type ReadServices, type RunUser } from '../../application/evaluations/user-reads.js'
import type { ScoreRow } from '../../domain/evaluations/scoring.js'
import { compileBuiltIn } from '../../domain/evaluations/scorers/compile.js'
import { decodeScorer } from '../../domain/evaluations/scorers/scorer.js'
import { httpScorer, type HttpServices } from './http-scorer.js'
import { judgeScorer } from './judge-scorer.js'

/** A scorer that is ready to be applied. */
export interface ReadyScorer {
  readonly ref: string
  readonly name: string
  /** Null for a scorer that cannot run in the service; `reason` says why and what to do. */
  readonly score: ScoreRow | null
  readonly reason: string
  /** Whether it answers soon, without I/O. */
  readonly isLocal: boolean
  readonly maxConcurrency: number
  readonly maxPerSecond: number | null
}

export const NO_GATEWAY = 'this process has no gateway to models: give it the role api'

/** Judges of one run at a time; the gateway has limits of its own. */
const JUDGE_CONCURRENCY = 8

/**
 * Prepares a scorer object; undefined if it does not exist or the user may not read it.
 *
 * @throws RunFailed where the object is not a scorer
 */
export const prepareScorer = async (
  services: ReadServices &
    HttpServices &
    Pick<EvaluationServices, 'scoringTools' | 'scoreBuiltIn' | 'askModel'>,
  ref: string,
  user: RunUser,
): Promise<ReadyScorer | undefined> => {
  const read = readObjectAs(services, user)
  const value = await read(ref)
  if (value === undefined) return undefined
  const decoded = decodeScorer(ref, value)
  if (E.isLeft(decoded)) throw new RunFailed(decoded.left)
  const scorer = decoded.right
  const base = { ref, name: scorer.name, reason: '', isLocal: false, maxPerSecond: null }
  switch (scorer.kind) {
    case 'built-in': {
      const compiled = compileBuiltIn(services.scoringTools)(scorer)
      if (E.isLeft(compiled)) throw new RunFailed(compiled.left)
      return { ...base, score: services.scoreBuiltIn(scorer), isLocal: true, maxConcurrency: 1 }
    }
    case 'llm-judge': {
      const { askModel } = services
      if (askModel === undefined)
        return { ...base, score: null, reason: NO_GATEWAY, maxConcurrency: JUDGE_CONCURRENCY }
      return { ...base, score: await judgeScorer(askModel)(scorer, read), maxConcurrency: JUDGE_CONCURRENCY }
    }
    case 'http': {
      const { max_concurrency, max_per_second } = scorer.settings
      return {
        ...base,
        score: httpScorer(services)(scorer),
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
