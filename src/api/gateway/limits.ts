import type * as t from 'io-ts'
import { accountKey, endOf, periodOf } from '../../domain/gateway/limits/accounts.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
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
import {
  amountFrom,
  amountOf,
  decimalText,
  numberFrom,
  tokenCost,
  moneyText,
  type Amount,
} from '../../domain/prices/decimal.js'
import { LARGEST_EXACT } from '../../domain/prices/exact.js'
import { roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import type { LedgerFollower } from '../../gateway/limits/ledger-follower.js'
import { requireReady } from '../../gateway/limits/refusals.js'
import { chooseLimit, writeOffUnknownCosts } from '../../gateway/limits/team-limits.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { id, projectId } from '../../kernel/ids.js'

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
  required: {
    scope: limitScope,
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
  optional: { ...rateFields, budget: nullable(open('BudgetJson', { required: budgetJson })) },
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
) => {
  const { spent, reserved, unknown } = ledger.sums(accountKey(team, scopeText(scope), period))
  return {
    of: period,
    ends_at: instantOf(new Date(endOf(period))),
    spent: numberFrom(spent),
    reserved: numberFrom(reserved),
    unknown: numberFrom(unknown),
  }
}

const newWriteOff = closed('NewWriteOff', {
  required: { scope: closed('WriteOffScope', limitScopeFields) },
  optional: {
    period: nullable(periodName),
    call_ids: nullable(arrayOf(id)),
    reason: nullable(textUpToCharacters(1000)),
  },
})

const writeOff = open('WriteOff', {
  says: 'The completions that no longer count in budgets, and the sum of what was reserved for them.',
  required: {
    amount: moneyText,
    calls: arrayOf(
      open('WriteOffCall', {
        required: { project_id: projectId, id, amount: moneyText, admitted_at: instant },
      }),
    ),
  },
})

/** Writes off what is reserved for completions with unknown usage. */
const writeOffCosts = (services: LimitServices): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: `${PATH}/write-offs`,
    summary:
      'Writes off the costs that are reserved for completions with unknown usage, such as those of a killed process: ' +
      'they no longer count in any budget. Those of the scope in `period` (a day or the month; the current month by ' +
      'default), or only `call_ids` of them. Needs the role team_administrator.',
    body: newWriteOff,
    response: writeOff,
    errors: ['overloaded'],
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: ({ team, body }) => {
      const { completions, run } = writeOffUnknownCosts(services, team, body)
      const total = completions.reduce<Amount>((sum, { reserved }) => sum + reserved, 0n)
      const calls = completions.map(({ project, id, reserved, admittedAt }) => ({
        project_id: project,
        id,
        amount: decimalText(reserved),
        admitted_at: admittedAt,
      }))
      return writing(run, () => ({ amount: decimalText(total), calls }))
    },
  })

/** Limits of completions, which the administrators of a team choose (gateway rule 6). */
export const limitRoutes = (services: LimitServices): readonly AnyRoute[] => [
  setLimit(services),
  listLimits(services),
  writeOffCosts(services),
]
