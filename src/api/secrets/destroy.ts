import { execute } from '../../runtime/execute.js'
import { secretDecider } from '../../domain/secret/decider.js'
import { secretStream } from '../../domain/secret/events.js'
import { tidySecret } from './leftovers.js'
import { done } from '../access/answers.js'
import { refuseIf } from '../auth/rights.js'
import { writesDirectory } from '../conduct.js'
import { route, type AnyRoute } from '../route.js'
import { managedTeam, PATH, rights, type Secrets } from './secrets.js'

export const destroySecret = ({ ports, access }: Secrets): AnyRoute =>
  route({
    method: 'delete',
    path: `${PATH}/:name`,
    summary:
      'Destroys all values of a secret for good. What is sent with it from here on fails. Needs the role ' +
      'team_administrator.',
    ...writesDirectory,
    fails: [...writesDirectory.fails, ...rights],
    answer: done,
    handle: async ({ params, principal, cause }) => {
      const team = managedTeam(access, { params, principal })
      const secret = { team, name: params['name']! }
      const command = { type: 'DestroySecret', ...secret } as const
      const stream = secretStream(secret.team, secret.name)
      const { state, refusals, position } = await execute(ports)(secretDecider, stream, [command], cause)
      refuseIf(refusals.get(0))
      // After the log said so, and again for a destruction that was repeated because it was cut off in between.
      await tidySecret(ports, secret, state)
      return { body: {}, position }
    },
  })
