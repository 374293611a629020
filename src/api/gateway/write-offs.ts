import { accountKey, periodOf } from '../../domain/gateway/limits/accounts.js'
import { limitDecider, limitsStream, periodName } from '../../domain/gateway/limits/limits.js'
import { limitScopeFields, scopeProblems, scopeText } from '../../domain/gateway/limits/scope.js'
import { decimalText, moneyText, type Amount } from '../../domain/prices/decimal.js'
import { invalidBody } from '../../application/failure.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { execute } from '../../kernel/execute.js'
import { id, projectId } from '../../kernel/ids.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { ledgerNotReady } from '../../gateway/limits/refusals.js'
import { roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { writeDirectory } from '../server/route-kinds.js'

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

/** How long the response waits until this process itself has applied the write-off. */
const KNOWN_WITHIN_MS = 2000

/** Writes off what is reserved for completions with unknown usage. */
export const writeOffRoute = (
  services: Pick<GatewayServices, 'eventStore' | 'clock' | 'ids' | 'access' | 'gateway'>,
): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/teams/:team/limits/write-offs',
    summary:
      'Writes off the costs that are reserved for completions with unknown usage, such as those of a killed process: ' +
      'they no longer count in any budget. Those of the scope in `period` (a day or the month; the current month by ' +
      'default), or only `call_ids` of them. Needs the role team_administrator.',
    body: newWriteOff,
    response: writeOff,
    errors: ['overloaded'],
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: ({ team, body: { scope, period, call_ids, reason } }) => {
      const problems = scopeProblems(scope)
      if (problems.length > 0) throw invalidBody(problems)
      const { ledgerFollower } = services.gateway
      if (!ledgerFollower.isReady()) throw ledgerNotReady(ledgerFollower.progress())
      const of = period ?? periodOf('month', instantOf(services.clock.now()))
      const chosen = call_ids === null ? undefined : new Set(call_ids)
      const calls = ledgerFollower.ledger
        .unknownIn(accountKey(team, scopeText(scope), of))
        .filter(({ id }) => chosen?.has(id) ?? true)
      const written = calls.map(({ project, id, reserved }) => ({
        project_id: project,
        id,
        amount: decimalText(reserved),
      }))
      const total = calls.reduce<Amount>((sum, { reserved }) => sum + reserved, 0n)
      return async (cause) => {
        const command = { type: 'WriteOffUnknownCosts', writeOff: { team, calls: written, reason } } as const
        const { position } = await execute(services)(limitDecider, limitsStream(team), [command], cause)
        if (position !== undefined) await ledgerFollower.reached(position, KNOWN_WITHIN_MS)
        return {
          body: {
            amount: decimalText(total),
            calls: written.map((call, index) => ({ ...call, admitted_at: calls[index]!.admittedAt })),
          },
          position,
        }
      }
    },
  })
