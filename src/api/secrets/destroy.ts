import { execute } from '../../kernel/execute.js'
import { secretDecider } from '../../domain/secrets/decider.js'
import { secretStream } from '../../domain/secrets/events.js'
import { reconcileSecret } from '../../application/secrets/reconcile.js'
import { roleInTeam } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute } from '../server/route.js'
import { writeDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import type { Services } from '../../application/services.js'
import { PATH } from './store.js'

export const destroySecret = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'secrets'>,
): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${PATH}/:name`,
    summary:
      'Permanently deletes all values of a secret. Later deliveries that use it fail. Needs the role ' +
      'team_administrator.',
    response: emptyResponse,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: ({ team, params }) => {
      const secret = { team, name: params['name']! }
      const command = { type: 'DestroySecret', ...secret } as const
      const stream = secretStream(secret.team, secret.name)
      return writing(async (cause) => {
        const executed = await execute(services)(secretDecider, stream, [command], cause)
        // Only after the event is appended. A retry does it again, in case the first was interrupted in between.
        if (executed.refusals.size === 0) await reconcileSecret(services, secret, executed.state)
        return executed
      })
    },
  })
