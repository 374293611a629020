import { committed } from '../../domain/gateway/budgets/account.js'
import { endOf } from '../../domain/gateway/budgets/periods.js'
import { OP_NAME } from '../answer/request.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { amountFrom, decimalText, numberFrom, type Amount } from '../../domain/prices/decimal.js'
import type { BudgetExceeded, Exceeded } from '../../domain/gateway/limits/gate.js'
import type { RateExceeded } from '../../domain/gateway/limits/meter.js'
import { scopeInWords, type LimitScope } from '../../domain/gateway/limits/scope.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { Failure } from '../../application/failure.js'

/** What a client is told whose completion a limit has no room for: which one, what is used of it, and by which calls. */
export const refusalOf = (refused: Exceeded, asked: Amount, now: Date): Failure =>
  refused.kind === 'rate'
    ? tooFast(refused.team, refused.scope, refused.exceeded, now)
    : spent(refused.team, refused.scope, refused.exceeded, asked)

/** Until the log was read, nobody knows what is left. */
export const notReadYet = ({
  position,
  head,
}: {
  readonly position: Position
  readonly head: Position
}): Failure =>
  new Failure('overloaded', `The budget ledger is still loading (event ${position} of ${head}). Try again.`, {
    retryAfter: 2,
  })

const NOUNS = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  concurrency: 'concurrent completions',
} as const

/** Longer than a minute nothing is held. */
const MINUTE_S = 60

const tooFast = (
  team: string,
  scope: LimitScope,
  { rate, most, used, asked, freesInMs, calls }: RateExceeded,
  now: Date,
): Failure => {
  const isTooLarge = freesInMs === Infinity && asked > most
  const frees = freesInMs === Infinity ? null : freesInMs
  const waitS = frees === null ? (isTooLarge ? MINUTE_S : 1) : Math.max(1, Math.ceil(frees / 1000))
  const whose = scopeInWords(team, scope)
  const reason = isTooLarge
    ? `This completion may use up to ${asked} tokens, but ${whose} is limited to ${most} ${NOUNS[rate]}. Lower max_tokens.`
    : `Rate limit reached for ${whose}: ${used} of ${most} ${NOUNS[rate]} used, this request needs ${asked}. ` +
      (frees === null ? 'Try again when one of them has ended.' : `Try again in ${waitS} s.`)
  return new Failure('rate-limited', reason, {
    retryAfter: waitS,
    isFinal: isTooLarge,
    body: {
      limit: {
        scope: scopeJson(scope),
        name: rate,
        most,
        used,
        asked,
        frees_at: frees === null ? null : new Date(now.getTime() + frees).toISOString(),
        last_calls: calls.map(callJson),
      },
    },
  })
}

const spent = (
  team: string,
  scope: LimitScope,
  { budget, period, sums, calls }: BudgetExceeded,
  asked: Amount,
): Failure => {
  const text = (amount: Amount): string => decimalText(amount)
  const left = amountFrom(budget.amount) - committed(sums)
  const endsAt = new Date(endOf(period)).toISOString()
  const reason =
    `The budget of ${scopeInWords(team, scope)} for the ${budget.period} ${period} is exceeded: of ${budget.amount}, ` +
    `${text(sums.spent + sums.unknown)} is spent and ${text(sums.reserved)} reserved for running completions, and ` +
    `this completion may cost up to ${text(asked)}. ` +
    `${left > 0n ? 'Lower max_tokens or wait: the' : 'The'} next ${budget.period} starts at ${endsAt}.`
  return new Failure('budget-spent', reason, {
    body: {
      budget: {
        scope: scopeJson(scope),
        ...budget,
        amount: numberFrom(amountFrom(budget.amount)),
        spent: numberFrom(sums.spent),
        unknown: numberFrom(sums.unknown),
        reserved: numberFrom(sums.reserved),
        left: numberFrom(left),
        asked: numberFrom(asked),
        of: period,
        ends_at: endsAt,
        last_calls: calls.map(callJson),
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

/** A call as its stream names it: `call-<team>/<project>/<id>`. */
const callJson = (stream: string): JsonObject => {
  const [team, project, ...id] = stream.slice('call-'.length).split('/')
  return { project_id: `${team}/${project}`, id: id.join('/') }
}

/** How all calls behind a budget are read. */
const listing = (team: string, { type, project, key }: LimitScope, period: string): JsonObject => ({
  method: 'POST',
  path: '/calls/query',
  body: {
    project_id: type === 'project' ? `${team}/${project}` : `${team}/<each project>`,
    filter: { op_names: [OP_NAME] },
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
