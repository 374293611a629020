import type * as t from 'io-ts'
import { nullable, withDefault } from '../../../kernel/codec/containers.js'
import { boolean, integerBetween } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textLike } from '../../../kernel/codec/text.js'
import { type EventOf, nothing, type Decider, type Decision } from '../../../kernel/decider.js'
import { teamName } from '../../../kernel/ids.js'
import { moneyText } from '../../prices/decimal.js'
import { budget, rateFields, isUnlimited, type LimitContent } from './content.js'
import { limitScope, scopeText, type LimitScope } from './scope.js'
import {
  UNKNOWN_COSTS_WRITTEN_OFF,
  unknownCostsWrittenOff,
  writeOffs,
  type UnknownCostsWrittenOff,
} from './write-offs.js'
import { jsonEqual } from '../../../kernel/json/equal.js'

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

/** Content without any limit removes the scope's limit. */
interface ChooseLimit {
  readonly type: 'ChooseLimit'
  readonly team: string
  readonly scope: LimitScope
  readonly content: LimitContent
}

interface ReachBudget {
  readonly type: 'ReachBudget'
  readonly reached: BudgetReached
}

interface WriteOffUnknownCosts {
  readonly type: 'WriteOffUnknownCosts'
  readonly writeOff: UnknownCostsWrittenOff
}

export type LimitCommand = ChooseLimit | ReachBudget | WriteOffUnknownCosts

/** A scope's limits, with the budget levels reached in the last periods that had any. */
export interface ScopeLimits {
  readonly scope: LimitScope
  readonly content: LimitContent
  readonly reached: readonly { readonly period: string; readonly levels: readonly number[] }[]
}

/** Several, since a clock that was wrong for a while comes back to a period. */
const KEPT_PERIODS = 10

/** A team's limits by `scopeText`. */
export type TeamLimits = Map<string, ScopeLimits>

const evolve = (limits: TeamLimits, { type, data }: LimitEvent): TeamLimits => {
  switch (type) {
    case 'LimitChosen': {
      const { team: _, scope, ...content } = data
      const text = scopeText(scope)
      const known = limits.get(text)
      const isSameBudget = jsonEqual(known?.content.budget ?? null, content.budget)
      const reached = isSameBudget ? (known?.reached ?? []) : []
      return limits.set(text, { scope, content, reached })
    }
    case 'LimitRemoved': {
      limits.delete(scopeText(data.scope))
      return limits
    }
    case 'BudgetReached': {
      const text = scopeText(data.scope)
      const known = limits.get(text)
      if (known === undefined) return limits
      const { period, level } = data
      const before = known.reached.find((one) => one.period === period)?.levels ?? []
      const others = known.reached.filter((one) => one.period !== period).slice(1 - KEPT_PERIODS)
      const reached = [...others, { period, levels: [...before, level] }]
      return limits.set(text, { ...known, reached })
    }
    default:
      // A newer release may have written an event type that this one does not know.
      return limits
  }
}

const decide = (limits: TeamLimits, command: LimitCommand): Decision<LimitEvent> => {
  switch (command.type) {
    case 'ChooseLimit':
      return choose(limits, command)
    case 'ReachBudget':
      return reach(limits, command)
    case 'WriteOffUnknownCosts':
      return { events: writeOffs(command.writeOff).map((data) => ({ type: 'UnknownCostsWrittenOff', data })) }
    default:
      return command satisfies never
  }
}

const choose = (limits: TeamLimits, { team, scope, content }: ChooseLimit): Decision<LimitEvent> => {
  const known = limits.get(scopeText(scope))
  if (isUnlimited(content))
    return known === undefined ? nothing : { events: [{ type: 'LimitRemoved', data: { team, scope } }] }
  if (known !== undefined && jsonEqual(known.content, content)) return nothing
  return { events: [{ type: 'LimitChosen', data: { team, scope, ...content } }] }
}

/** Writes nothing if another process already reported the level, or if the budget has changed. */
const reach = (limits: TeamLimits, { reached }: ReachBudget): Decision<LimitEvent> => {
  const known = limits.get(scopeText(reached.scope))
  if (known === undefined || !jsonEqual(known.content.budget, reached.budget)) return nothing
  return isReached(known, reached.period, reached.level)
    ? nothing
    : { events: [{ type: 'BudgetReached', data: reached }] }
}

export const isReached = ({ reached }: ScopeLimits, period: string, level: number): boolean =>
  reached.some((one) => one.period === period && one.levels.includes(level))

export const noLimits = (): TeamLimits => new Map()

export const limitDecider: Decider<TeamLimits, LimitCommand, LimitEvent> = {
  initialState: noLimits,
  evolve,
  decide,
}
