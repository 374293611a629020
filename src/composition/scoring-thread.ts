import { parentPort } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { LRUCache } from 'lru-cache'
import { compileBuiltIn } from '../domain/evaluations/scorers/compile.js'
import type { BuiltInScorer } from '../domain/evaluations/scorers/scorer.js'
import type { ScorableRow, Scored } from '../domain/evaluations/scoring.js'
import type { Json } from '../kernel/json/json.js'
import { parseJson } from '../kernel/json/parse.js'
import { jsonText } from '../kernel/json/text.js'
import { scoringTools } from './scoring-tools.js'

/** The entry of the thread that applies built-in scorers. Texts are JSON, which keeps the digits of numbers. */

export interface RowToThread {
  readonly id: number
  readonly row: string
  readonly scorers: readonly string[]
}

export interface RowFromThread {
  readonly id: number
  /** In the order of the scorers. */
  readonly scored: string
}

const MAX_COMPILED = 100
const compiled = new LRUCache<string, (row: ScorableRow) => Scored>({ max: MAX_COMPILED })

const scorerIn = (text: string): ((row: ScorableRow) => Scored) => {
  const known = compiled.get(text)
  if (known !== undefined) return known
  const scorer = E.getOrElseW((error: string) => (): Scored => ({ failed: error }))(
    compileBuiltIn(scoringTools)(parseJson(text) as unknown as BuiltInScorer),
  )
  compiled.set(text, scorer)
  return scorer
}

/** A row that cannot be read fails alone: an error would end the thread, and with it the scores of other rows. */
const scoresOf = (row: string, scorers: readonly string[]): readonly Scored[] => {
  try {
    const parsed = parseJson(row) as unknown as ScorableRow
    return scorers.map((text) => scorerIn(text)(parsed))
  } catch (error) {
    return scorers.map(() => ({ failed: error instanceof Error ? error.message : String(error) }))
  }
}

parentPort!.on('message', ({ id, row, scorers }: RowToThread) => {
  const answer: RowFromThread = { id, scored: jsonText(scoresOf(row, scorers) as unknown as Json) }
  parentPort!.postMessage(answer)
})
