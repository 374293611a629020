import type * as t from 'io-ts'
import { accountKey, endOf, periodOf } from '../../domain/gateway/limits/accounts.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant, instantOf, type Instant } from '../../kernel/codec/instant.js'
import { integerBetween, number } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { budgetPeriod, rateFields, type LimitContent } from '../../domain/gateway/limits/content.js'
import { periodName, type ScopeLimits } from '../../domain/gateway/limits/limits.js'
import {
  limitScope,
  limitScopeFields,
  scopeText,
  type LimitScope,
} from '../../domain/gateway/limits/scope.js'
import { amountFrom, amountOf, decimalText, numberFrom, tokenCost } from '../../domain/prices/decimal.js'
import { LARGEST_EXACT } from '../../domain/prices/exact.js'
import { roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import type { LedgerFollower } from '../../gateway/limits/ledger-follower.js'
import { requireReady } from '../../gateway/limits/refusals.js'
import { chooseLimit } from '../../gateway/limits/team-limits.js'

const PATH = '/api/teams/:team/limits'

const budgetJson = { amount: tokenCost, period: budgetPeriod }

const newLimit = closed('NewLimit', {
  required: { scope: closed('NewLimitScope', limitScopeFields) },
  optional: { ...rateFields, budget: nullable(closed('NewBudget', { required: budgetJson })) },
})

const used = integerBetween(0, LARGEST_EXACT)

const limitJson = open('Limit', {
  says:
    'The limits on completions of a scope and their current use. Requests, tokens and running completions are ' +
    'counted in this process over the last minute; budgets over the current period.',
  required: { scope: limitScope },
  optional: {
    ...rateFields,
    budget: nullable(open('BudgetJson', { required: budgetJson })),
    used: open('LimitUsed', {
      required: { requests: used, tokens: used, running: used },
      optional: {
        budget: nullable(
          open('BudgetUsed', {
            says: '`unknown` is the cost reserved permanently for completions whose usage is unknown.',
            required: { of: periodName, ends_at: instant, spent: number, reserved: number, unknown: number },
          }),
        ),
      },
    }),
  },
})

const limitList = open('LimitList', { required: { data: arrayOf(limitJson) } })

type LimitServices = Pick<GatewayServices, 'eventStore' | 'clock' | 'ids' | 'access' | 'gateway'>

const setLimit = (services: LimitServices): AnyRoute =>
  writeDirectory({
    method: 'put',
    path: PATH,
    summary:
      'Sets the limits on completions of a team, of one of its projects, or with an API key in its projects, replacing ' +
      'earlier limits. Limits that are not given are removed. Needs the role team_administrator.',
    body: newLimit,
    response: limitJson,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: ({ team, body: { scope, budget, ...rates } }) => {
      const content: LimitContent = {
        ...rates,
        budget: budget && { ...budget, amount: decimalText(amountOf(budget.amount)) },
      }
      const limits = { scope, content, reached: [] }
      return writing(chooseLimit(services, team, scope, content), () => limitOf(services, team, limits))
    },
  })

const listLimits = (services: LimitServices): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary: "Lists a team's limits and their current use. Needs the role team_administrator.",
    errors: ['overloaded'],
    response: limitList,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: ({ team }) => {
      const { ledgerFollower } = services.gateway
      requireReady(ledgerFollower)
      const limits = [...ledgerFollower.limitsOf(team).entries()].sort(([a], [b]) => (a < b ? -1 : 1))
      return { body: { data: limits.map(([, limited]) => limitOf(services, team, limited)) } }
    },
  })

/** Limits of completions, which the administrators of a team choose (gateway rule 6). */
export const limitRoutes = (services: LimitServices): readonly AnyRoute[] => [
  setLimit(services),
  listLimits(services),
]

const limitOf = (
  { clock, gateway: { ledgerFollower, limiter } }: Pick<GatewayServices, 'clock' | 'gateway'>,
  team: string,
  { scope, content: { budget, ...rates } }: ScopeLimits,
): t.TypeOf<typeof limitJson> => {
  const now = clock.now()
  return {
    scope,
    ...rates,
    budget: budget && { amount: numberFrom(amountFrom(budget.amount)), period: budget.period },
    used: {
      ...limiter.used(team, scope),
      budget: budget && budgetUsed(ledgerFollower, team, scope, periodOf(budget.period, instantOf(now))),
    },
  }
}

const budgetUsed = (
  { ledger }: Pick<LedgerFollower, 'ledger'>,
  team: string,
  scope: LimitScope,
  period: string,
): {
  readonly of: string
  readonly ends_at: Instant
  readonly spent: number
  readonly reserved: number
  readonly unknown: number
} => {
  const { spent, reserved, unknown } = ledger.sums(accountKey(team, scopeText(scope), period))
  return {
    of: period,
    ends_at: instantOf(new Date(endOf(period))),
    spent: numberFrom(spent),
    reserved: numberFrom(reserved),
    unknown: numberFrom(unknown),
  }
}
