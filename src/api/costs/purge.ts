import { execute } from '../../runtime/execute.js'
import { priceDecider } from '../../domain/price/decider.js'
import { priceStream } from '../../domain/price/events.js'
import { writesProject } from '../conduct.js'
import { nothingToSay } from '../nothing-to-say.js'
import { requireReading } from '../projects/access.js'
import { namedIds } from '../purging.js'
import { route, type AnyRoute } from '../route.js'
import { costPurge } from './codecs.js'
import type { CostWrites } from './create.js'

/** `/cost/purge`: answers from here on know nothing of the prices. */
export const purgeRoute = ({ ports, teams, reading }: CostWrites): AnyRoute =>
  route({
    method: 'post',
    path: '/cost/purge',
    summary: "Purge a project's prices by their ids.",
    body: costPurge,
    ...writesProject,
    answer: nothingToSay,
    handle: async ({ body: { project_id, query }, principal, cause }) => {
      requireReading(teams, principal, project_id)
      const owner = { project_id, list: null }
      const ids = [...new Set(namedIds(query.$expr, 'Prices are'))]
      const commands = ids.map((id) => ({ type: 'WithdrawPrice', owner, id }) as const)
      const { position } = await execute(ports)(priceDecider, priceStream(owner), commands, cause)
      return { body: {}, position: reading.acknowledged(project_id, position) }
    },
  })
