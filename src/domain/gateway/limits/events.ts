import type * as t from 'io-ts'
import { nullable, withDefault } from '../../../kernel/codec/containers.js'
import { boolean, integerBetween } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textLike } from '../../../kernel/codec/text.js'
import type { EventOf } from '../../../kernel/decider.js'
import { teamName } from '../../../kernel/ids.js'
import { moneyText } from '../../prices/decimal.js'
import { budget, rateFields } from './content.js'
import { limitScope } from './scope.js'
import { UNKNOWN_COSTS_WRITTEN_OFF, unknownCostsWrittenOff } from './write-offs.js'

/** A UTC day (`2026-11-21`) or month (`2026-11`). */
export const periodName = textLike(
  'period',
  /^\d{4}-\d\d(-\d\d)?$/,
  "String should be a day or a month, such as '2026-01-31' or '2026-01'",
)

/** In per cent of the budget. */
export const LEVELS = [50, 80, 100] as const

const limitChosen = open('LimitChosen', {
  says: 'The limits on completions of a team, a project or an API key were set.',
  required: { team: teamName, scope: limitScope },
  optional: { ...rateFields, budget: nullable(budget) },
})

const limitRemoved = open('LimitRemoved', {
  says: 'The limits on completions of a scope were removed.',
  required: { team: teamName, scope: limitScope },
})

const budgetReached = open('BudgetReached', {
  says:
    'A budget reached a percentage of its amount; once per budget, period and level. 100 is also reached when ' +
    'a completion is rejected that would fit into an unused budget.',
  required: {
    team: teamName,
    scope: limitScope,
    budget,
    period: periodName,
    level: integerBetween(1, 100),
    spent: moneyText,
  },
  optional: { refused: withDefault(boolean, false) },
})

export const limitEvents = {
  LimitChosen: limitChosen,
  LimitRemoved: limitRemoved,
  BudgetReached: budgetReached,
  [UNKNOWN_COSTS_WRITTEN_OFF]: unknownCostsWrittenOff,
}

export type BudgetReached = t.TypeOf<typeof budgetReached>
export type LimitEvent = EventOf<typeof limitEvents>

export const LIMITS_PREFIX = 'limits-'
export const limitsStream = (team: string): string => `${LIMITS_PREFIX}${team}`
