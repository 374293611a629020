import { Failure } from '../../application/failure.js'
import { committed, endOf } from '../../domain/gateway/limits/accounts.js'
import type { BudgetExceeded, RateExceeded } from '../../domain/gateway/limits/limiter.js'
import { scopeInWords, type LimitScope } from '../../domain/gateway/limits/scope.js'
import { amountFrom, decimalText, numberFrom, type Amount } from '../../domain/prices/decimal.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { ENDPOINTS } from '../endpoints/all.js'
import type { LedgerFollower } from './ledger-follower.js'

interface Refused {
  /** The reserved maximum cost. */
  readonly requested: Amount
  readonly now: Date
  readonly headers: Readonly<Record<string, string>>
}

/** The failure of a completion that does not fit into a limit: which one, and what is used of it. */
export const refusalOf = (
  team: string,
  exceeded: BudgetExceeded | RateExceeded,
  refused: Refused,
): Failure =>
  exceeded.kind === 'rate' ? rateLimited(team, exceeded, refused) : budgetSpent(team, exceeded, refused)

export const requireReady = ({ isReady, progress }: Pick<LedgerFollower, 'isReady' | 'progress'>): void => {
  if (isReady()) return
  const { position, head } = progress()
  const loading = `The budget ledger is still loading (event ${position} of ${head}). Try again.`
  throw new Failure('overloaded', loading, { retryAfter: 2 })
}

const NOUNS = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  concurrency: 'concurrent completions',
} as const

const MINUTE_S = 60

const rateLimited = (
  team: string,
  { scope, rate, limit, used, requested, availableInMs }: RateExceeded,
  { now, headers }: Refused,
): Failure => {
  const isTooLarge = availableInMs === Infinity && requested > limit
  const waitMs = availableInMs === Infinity ? null : availableInMs
  const waitS = waitMs === null ? (isTooLarge ? MINUTE_S : 1) : Math.max(1, Math.ceil(waitMs / 1000))
  const whose = scopeInWords(team, scope)
  const reason = isTooLarge
    ? `This completion may use up to ${requested} tokens, but ${whose} is limited to ${limit} ${NOUNS[rate]}. Lower max_tokens.`
    : `Rate limit reached for ${whose}: ${used} of ${limit} ${NOUNS[rate]} used, this request needs ${requested}. ` +
      (waitMs === null ? 'Try again when one of them has ended.' : `Try again in ${waitS} s.`)
  return new Failure('rate-limited', reason, {
    retryAfter: waitS,
    isFinal: isTooLarge,
    headers,
    body: {
      limit: {
        scope: scopeJson(scope),
        name: rate,
        most: limit,
        used,
        asked: requested,
        frees_at: waitMs === null ? null : new Date(now.getTime() + waitMs).toISOString(),
      },
    },
  })
}

const budgetSpent = (
  team: string,
  { scope, budget, period, sums }: BudgetExceeded,
  { requested, headers }: Refused,
): Failure => {
  const left = amountFrom(budget.amount) - committed(sums)
  const endsAt = new Date(endOf(period)).toISOString()
  const unknown = sums.unknown === 0n ? '' : ` (${decimalText(sums.unknown)} of it for unknown usage)`
  const reason =
    `The budget of ${scopeInWords(team, scope)} for the ${budget.period} ${period} is exceeded: of ${budget.amount}, ` +
    `${decimalText(sums.spent + sums.unknown)} is spent${unknown} and ${decimalText(sums.reserved)} reserved for ` +
    `running completions, and this completion may cost up to ${decimalText(requested)}. ` +
    `${left > 0n ? 'Lower max_tokens or wait: the' : 'The'} next ${budget.period} starts at ${endsAt}.`
  return new Failure('budget-spent', reason, {
    headers,
    body: {
      budget: {
        scope: scopeJson(scope),
        ...budget,
        amount: numberFrom(amountFrom(budget.amount)),
        spent: numberFrom(sums.spent),
        unknown: numberFrom(sums.unknown),
        reserved: numberFrom(sums.reserved),
        left: numberFrom(left),
        asked: numberFrom(requested),
        of: period,
        ends_at: endsAt,
        all_calls: listing(team, scope, period),
      },
    },
  })
}

const scopeJson = ({ type, project, key }: LimitScope): JsonObject => ({
  type,
  ...(project === null ? {} : { project }),
  ...(key === null ? {} : { key }),
})

/** The request that lists all calls behind a budget. */
const listing = (team: string, { type, project, key }: LimitScope, period: string): JsonObject => ({
  method: 'POST',
  path: '/calls/query',
  body: {
    project_id: type === 'project' ? `${team}/${project}` : `${team}/<each project>`,
    filter: { op_names: Object.values(ENDPOINTS).map(({ opName }) => opName) },
    query: {
      $expr: {
        $and: [
          { $gte: [{ $getField: 'started_at' }, { $literal: startOf(period) }] },
          ...(key === null
            ? []
            : [{ $eq: [{ $getField: 'attributes.tallytree.key_id' }, { $literal: key }] }]),
        ],
      },
    },
  },
})

const startOf = (period: string): number =>
  Date.parse(period.length === 7 ? `${period}-01T00:00:00Z` : `${period}T00:00:00Z`) / 1000
