import type { Services } from '../../application/services.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { internalProjectId } from '../../domain/objects/weave-digest.js'
import { anyKey } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'

const projectInfo = open('ProjectInfo', {
  required: { external_project_id: projectId, internal_project_id: string },
})

/** Python `weave` computes digests with the internal ids. */
export const projectInfoRoute = ({ access }: Pick<Services, 'access'>): AnyRoute =>
  readDirectory({
    authorization: anyKey,
    method: 'post',
    path: '/service/projects_info',
    summary:
      'The ids that references have inside digests, for those of the given projects that the key can access.',
    body: closed('ProjectsInfoRequest', { required: { project_ids: arrayOf(string) } }),
    response: arrayOf(projectInfo),
    handle: ({ body: { project_ids }, principal }) =>
      Promise.resolve({
        body: project_ids
          .filter((id) => projectId.is(id) && access.canAccessProject(principal, id))
          .map((id) => ({ external_project_id: id, internal_project_id: internalProjectId(id) })),
      }),
  })
