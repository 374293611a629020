import type { ScoreBuiltIn } from '../application/evaluations/services.js'
import type { ScorableRow, Scored } from '../domain/evaluations/scoring.js'
import { threadClient } from '../engine/thread-client.js'
import { SCORING_THREAD } from '../files.js'
import type { Json } from '../kernel/json/json.js'
import { parseJson } from '../kernel/json/parse.js'
import { jsonText } from '../kernel/json/text.js'
import type { RowFromThread, RowToThread } from './scoring-thread.js'

interface PendingScore {
  readonly scorer: string
  readonly resolve: (scored: Scored) => void
}

/** A row that ends the thread takes others with it, which are tried again. */
const MAX_TRIES = 2

/**
 * Applies built-in scorers in a thread: one of them may compute for 250 ms. All scorers that are applied to a row in a turn
 * go in one message.
 */
export const startScoring = (
  entry = SCORING_THREAD,
): { readonly scoreBuiltIn: ScoreBuiltIn; readonly stop: () => Promise<void> } => {
  const thread = threadClient<RowToThread, RowFromThread>(entry, 'scoring')
  const pending = new Map<ScorableRow, PendingScore[]>()

  const send = (row: string, scores: readonly PendingScore[], tries = 1): void => {
    const scorers = scores.map(({ scorer }) => scorer)
    const settle = (scored: (index: number) => Scored) => {
      for (const [index, { resolve }] of scores.entries()) resolve(scored(index))
    }
    try {
      const job = thread.start((id) => ({ id, row, scorers }), {
        onMessage: ({ scored }) => {
          job.close()
          const all = scoresIn(scored)
          settle((index) => all[index] ?? { failed: 'The scores cannot be read.' })
        },
        onLost: ({ message }) => {
          if (tries < MAX_TRIES) send(row, scores, tries + 1)
          else settle(() => ({ failed: message }))
        },
      })
    } catch (error) {
      settle(() => ({ failed: (error as Error).message }))
    }
  }

  const sendPending = () => {
    const rows = [...pending]
    pending.clear()
    for (const [row, scores] of rows) send(jsonText(row as unknown as Json), scores)
  }

  return {
    scoreBuiltIn: (scorer) => {
      const text = jsonText(scorer as unknown as Json)
      return (row) =>
        new Promise((resolve) => {
          if (pending.size === 0) queueMicrotask(sendPending)
          const scores = pending.get(row) ?? []
          pending.set(row, [...scores, { scorer: text, resolve }])
        })
    },
    stop: thread.stop,
  }
}

/** None if they have too many wide integers. */
const scoresIn = (text: string): readonly Scored[] => {
  try {
    return parseJson(text) as unknown as readonly Scored[]
  } catch {
    return []
  }
}
