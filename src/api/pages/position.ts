import type { Services } from '../../application/services.js'
import { string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { NO_CONDITIONS } from '../../application/reading/reading.js'
import { inQuery } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'
import { accessToProject } from '../server/authorization.js'

/** The position that reads reach now. Pages ask for it often, and read again only when it has moved. */
export const positionRoute = ({ access, reading }: Pick<Services, 'access' | 'reading'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/pages/position',
    summary: 'The log position that reads of a project reach now, in digits.',
    query: closed('PositionQuery', { required: { project_id: projectId } }),
    response: open('PagePosition', { required: { position: string } }),
    authorization: accessToProject(access, inQuery),
    handle: async ({ project }) => {
      const position = await reading.waitForNow(project, { ...NO_CONDITIONS, stale: true })
      return { body: { position: String(position) } }
    },
  })
