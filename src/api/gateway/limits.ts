import type { Services } from '../../application/services.js'
import type * as t from 'io-ts'
import { accountKey, endOf, periodOf } from '../../domain/gateway/limits/accounts.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant, instantOf, type Instant } from '../../kernel/codec/instant.js'
import { integerBetween, number } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { rolesIn } from '../../domain/access/look-ups.js'
import { execute } from '../../kernel/execute.js'
import { budgetPeriod, rateFields, type LimitContent } from '../../domain/gateway/limits/content.js'
import {
  limitDecider,
  type ScopeLimits,
  limitsStream,
  periodName,
} from '../../domain/gateway/limits/limits.js'
import {
  limitScope,
  limitScopeFields,
  scopeProblems,
  scopeText,
  type LimitScope,
} from '../../domain/gateway/limits/scope.js'
import { amountFrom, amountOf, decimalText, numberFrom, tokenCost } from '../../domain/prices/decimal.js'
import { LARGEST_EXACT } from '../../domain/prices/exact.js'
import { roleInTeam } from '../server/authorization.js'
import { invalidBody, invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import type { LedgerFollower } from '../../gateway/limits/ledger-follower.js'
import { ledgerNotReady } from '../../gateway/limits/refusals.js'

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

/** How long a write waits until this process itself keeps to it. */
const KNOWN_WITHIN_MS = 2000

/** Limits of completions, which the administrators of a team choose (gateway rule 6). */
export const limitRoutes = (
  services: Pick<GatewayServices, 'eventStore' | 'clock' | 'ids' | 'access' | 'gateway'>,
): readonly AnyRoute[] => {
  const { access, gateway } = services

  const shown = (team: string, limited: ScopeLimits) => limitShown(services, team, limited)

  return [
    writeDirectory({
      method: 'put',
      path: PATH,
      summary:
        'Sets the limits on completions of a team, of one of its projects, or with an API key in its projects, replacing ' +
        'earlier limits. Limits that are not given are removed. Needs the role team_administrator.',
      body: newLimit,
      response: limitJson,
      authorization: roleInTeam(access, 'team_administrator'),
      handle: ({ team, body: { scope, budget, ...rates } }) => {
        const problems = scopeProblems(scope)
        if (problems.length > 0) throw invalidBody(problems)
        const content: LimitContent = {
          ...rates,
          budget: budget && { ...budget, amount: decimalText(amountOf(budget.amount)) },
        }
        if (!gateway.ledgerFollower.isReady()) throw ledgerNotReady(gateway.ledgerFollower.progress())
        const known = gateway.ledgerFollower.limitsOf(team).has(scopeText(scope))
        if (!known) requireKeyOf(services, team, scope)
        const command = { type: 'ChooseLimit', team, scope, content } as const
        return async (cause) => {
          const { position } = await execute(services)(limitDecider, limitsStream(team), [command], cause)
          if (position !== undefined) await gateway.ledgerFollower.reached(position, KNOWN_WITHIN_MS)
          return { body: shown(team, { scope, content, reached: [] }), position }
        }
      },
    }),
    readDirectory({
      method: 'get',
      path: PATH,
      summary: "Lists a team's limits and their current use. Needs the role team_administrator.",
      errors: ['overloaded'],
      response: limitList,
      authorization: roleInTeam(access, 'team_administrator'),
      handle: ({ team }) => {
        if (!gateway.ledgerFollower.isReady()) throw ledgerNotReady(gateway.ledgerFollower.progress())
        const limits = [...gateway.ledgerFollower.limitsOf(team).entries()].sort(([a], [b]) =>
          a < b ? -1 : 1,
        )
        return { body: { data: limits.map(([, limited]) => shown(team, limited)) } }
      },
    }),
  ]
}

/** Reports a key of another team as unknown. */
const requireKeyOf = ({ access }: Pick<Services, 'access'>, team: string, { key }: LimitScope): void => {
  if (key === null) return
  const directory = access.directory()
  const known = directory.keys.get(key)
  if (known === undefined || rolesIn(directory, known.user, team).length === 0)
    throw invalidField(
      ['scope', 'key'],
      'value_error',
      'Input should be the id of an API key of a member of the team',
    )
}

const limitShown = (
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
