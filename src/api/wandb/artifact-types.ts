import { collectionsOf } from '../../projections/artifacts/queries.js'
import { caughtUp, connectionOf, type Caller, type PageOf } from './caller.js'

const NO_TYPE = 'unknown'
const BEGINNING = '1970-01-01T00:00:00.000000Z'

export const typeOf = (caller: Caller, project: string, name: string | null) => ({
  id: name ?? NO_TYPE,
  name: name ?? NO_TYPE,
  description: null,
  // Clients need one, and a type is not created.
  createdAt: BEGINNING,
  artifact: ({ name: named }: { readonly name: string }) =>
    caller.nodes.artifactNamed(caller, project, named),
  artifactCollection: ({ name: named }: { readonly name: string }) =>
    caller.nodes.collection(caller, project, named),
  artifactSequence: ({ name: named }: { readonly name: string }) =>
    caller.nodes.collection(caller, project, named),
  artifactCollections: (page: PageOf) => caller.nodes.collections(caller, project, name, page),
})

export const typesOf = async (caller: Caller, project: string, page: PageOf) => {
  const found = await collectionsOf(await caughtUp(caller, project))(project, null)
  const types = [...new Set(found.map(({ type }) => type ?? NO_TYPE))].sort()
  return connectionOf(caller, types, page, String, (name) => typeOf(caller, project, name))
}

/** Every type exists: a collection says which one it has. */
export const typeNamed = (caller: Caller, project: string, name: string) => typeOf(caller, project, name)
