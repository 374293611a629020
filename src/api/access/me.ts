import { userName } from '../../domain/access/events.js'
import { membershipsOf } from '../../domain/access/look-ups.js'
import { role } from '../../domain/access/roles.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { boolean } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { teamName } from '../../kernel/ids.js'
import type { Services } from '../../application/services.js'
import { anyKey } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'

const membership = open('Membership', { required: { team: teamName, roles: arrayOf(role) } })
const me = open('Me', { required: { user: userName, administrator: boolean, teams: arrayOf(membership) } })

export const showMe = (services: Pick<Services, 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/users/me',
    summary: 'The user of the API key, with teams and roles.',
    response: me,
    authorization: anyKey,
    handle: ({ principal: { userId: user, administrator } }) => ({
      body: { user, administrator, teams: [...membershipsOf(services.access.directory(), user)] },
    }),
  })
