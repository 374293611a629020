import type { Services } from '../../application/services.js'
import { execute } from '../../kernel/execute.js'
import { priceDecider } from '../../domain/prices/decider.js'
import { priceStream } from '../../domain/prices/events.js'
import { inBody } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { namedIds } from '../server/purging.js'
import type { AnyRoute } from '../server/route.js'
import { changeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { costPurge } from './codecs.js'

export const purgeRoute = (services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading'>): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/cost/purge',
    summary: "Purge a project's prices by their ids.",
    body: costPurge,
    response: emptyResponse,
    project: inBody,
    handle: ({ body: { project_id, query } }) => {
      const owner = { project_id, list: null }
      const ids = [...new Set(namedIds(query.$expr, 'Prices are'))]
      const commands = ids.map((id) => ({ type: 'WithdrawPrice', owner, id }) as const)
      return writing((cause) =>
        execute(services)(priceDecider, priceStream(owner), commands, cause, { splitAppends: true }),
      )
    },
  })
