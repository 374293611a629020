import type { Services } from '../../application/services.js'
import { arrayOf, withDefault } from '../../kernel/codec/containers.js'
import { string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { projectId } from '../../kernel/ids.js'
import { namedObjects } from '../../projections/objects/names.js'
import { inQuery } from '../server/authorization.js'
import { integerInQuery } from '../server/integer-in-query.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { compressedJson } from './compressed.js'

const MAX_NAMES = 50

const namedObject = open('NamedObject', { required: { name: string, digest: string, class: string } })

export const namesRoute = (services: Pick<Services, 'access' | 'reading'>): AnyRoute =>
  readProject(services, {
    method: 'get',
    path: '/api/pages/names',
    summary:
      'The newest versions of the objects and ops of a project whose names contain a text in any case, the last changed first. ' +
      'Saved views are left out, as their names are in their values.',
    query: closed('NamesQuery', {
      required: { project_id: projectId },
      optional: {
        contains: withDefault(textUpToCharacters(200), ''),
        limit: withDefault(integerInQuery(1, MAX_NAMES), 20),
      },
    }),
    response: open('Names', { required: { data: arrayOf(namedObject) } }),
    project: inQuery,
    handle:
      ({ query: { contains, limit }, headers, project, reader }) =>
      async (position) =>
        compressedJson(headers, { data: await namedObjects(reader, project, position, { contains, limit }) }),
  })
