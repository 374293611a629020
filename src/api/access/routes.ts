import type { Access } from '../../application/access/access.js'
import type { KeyPorts } from '../../application/access/new-key.js'
import type { AnyRoute } from '../server/route.js'
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.js'
import { showMe } from './me.js'
import { addMember, listMembers, removeMember } from './members.js'
import { createTeam, listTeams } from './teams.js'

export const accessRoutes = (ports: KeyPorts, access: Access): readonly AnyRoute[] => [
  createTeam(access),
  listTeams(access),
  listMembers(access),
  addMember(ports, access),
  removeMember(access),
  showMe(access),
  listApiKeys(access),
  createApiKey(ports, access),
  revokeApiKey(access),
]
