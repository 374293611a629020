import type * as t from 'io-ts'
import { nullable, withDefault } from '../codec/containers.js'
import { boolean, integerBetween } from '../codec/leaves.js'
import { open } from '../codec/struct.js'
import { textLike } from '../codec/text.js'
import type { EventOf } from '../decider.js'
import { teamName } from '../ids.js'
import { moneyText } from '../price/decimal.js'
import { budget, rateFields } from './content.js'
import { limitScope } from './scope.js'

/** A day, `2026-11-21`, or a month, `2026-11`, of UTC. */
export const periodName = textLike('period', /^\d{4}-\d\d(-\d\d)?$/, 'String should be a day or a month')

/** Of a budget, in per cent. */
export const LEVELS = [50, 80, 100] as const

const limitChosen = open('LimitChosen', {
  says: 'Completions of a team, of one of its projects or with a key are limited like this from here on.',
  required: { team: teamName, scope: limitScope },
  optional: { ...rateFields, budget: nullable(budget) },
})

const limitRemoved = open('LimitRemoved', {
  says: 'Completions of a scope are limited no more.',
  required: { team: teamName, scope: limitScope },
})

const budgetReached = open('BudgetReached', {
  says:
    'So many per cent of a budget are spent, once for each budget, period and level. 100 is reached as well when ' +
    'a completion that a fresh budget would have had room for is refused.',
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
}

export type BudgetReached = t.TypeOf<typeof budgetReached>
export type LimitEvent = EventOf<typeof limitEvents>

export const LIMITS_PREFIX = 'limits-'
export const limitsStream = (team: string): string => `${LIMITS_PREFIX}${team}`
