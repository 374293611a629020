import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.js'
import { showMe } from './me.js'
import { addMember, listMembers, removeMember } from './members.js'
import { createTeam, listTeams } from './teams.js'

export const accessRoutes = (
  services: Pick<Services, 'clock' | 'ids' | 'sha256' | 'access' | 'randomKey'>,
): readonly AnyRoute[] => [
  createTeam(services),
  listTeams(services),
  listMembers(services),
  addMember(services),
  removeMember(services),
  showMe(services),
  listApiKeys(services),
  createApiKey(services),
  revokeApiKey(services),
]
