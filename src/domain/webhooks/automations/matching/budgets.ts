import { limitEvents, limitsStream } from '../../../gateway/limits/events.js'
import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'
import { amountFrom, numberFrom } from '../../../prices/decimal.js'
import { decodeData, envelopeOf } from './decode-data.js'
import type { BudgetTrigger } from './trigger.js'

/** The trigger of a budget that reached a level. */
export const budgetTrigger = (event: RecordedEvent): BudgetTrigger | undefined => {
  if (event.type !== 'BudgetReached') return undefined
  const data = decodeData(limitEvents.BudgetReached, event)
  if (data === undefined || limitsStream(data.team) !== event.stream) return undefined
  const { team, scope, level, spent, budget } = data
  const [part, whole] = [amountFrom(spent), amountFrom(budget.amount)]
  return {
    kind: 'budget',
    ...envelopeOf(event),
    team,
    types: ['BUDGET_REACHED'],
    project: scope.project,
    of: scope.type,
    level,
    spent: whole === 0n ? 100 : numberFrom((part * 100n * ONE) / whole),
  }
}

const ONE = amountFrom('1')
