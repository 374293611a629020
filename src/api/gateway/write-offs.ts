import { periodName } from '../../domain/gateway/limits/limits.js'
import { limitScopeFields } from '../../domain/gateway/limits/scope.js'
import { decimalText, moneyText, type Amount } from '../../domain/prices/decimal.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { id, projectId } from '../../kernel/ids.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { writeOffUnknownCosts } from '../../gateway/limits/team-limits.js'
import { roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { writeDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'

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
