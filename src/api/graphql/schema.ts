import { buildSchema } from 'graphql'

/** What clients of the vendor's GraphQL endpoint ask before they trace, under the names that they use for it. */
export const schema = buildSchema(`
"JSON as it is."
scalar JSON
"JSON written into a string."
scalar JSONString
"RFC 3339, UTC."
scalar DateTime

type Query {
  "Whom the API key stands for."
  viewer: User
  "A project of an entity, of the default entity where none is named. Within a team of the key every project exists."
  project(name: String, entityName: String): Project
  "The older name of project."
  model(name: String, entityName: String): Project
  entity(name: String): Entity
  serverInfo: ServerInfo
}

type Mutation {
  "Asks for a project by name. A repeat changes nothing; a description or repo that is null leaves what is there."
  upsertModel(input: UpsertModelInput!): UpsertModelPayload
}

type User {
  id: ID!
  username: String!
  name: String!
  email: String
  "Whether the user may use every team."
  admin: Boolean!
  "The name of the default entity."
  entity: String
  "The first team by name, for an administrator 'default'; null for a user without a team."
  defaultEntity: Entity
  "By name; first is 1 to 1000."
  teams(first: Int = 1000, after: String): EntityConnection!
  flags: JSONString!
  photoUrl: String
}

type EntityConnection {
  edges: [EntityEdge!]!
  pageInfo: PageInfo!
}

type EntityEdge {
  node: Entity!
  cursor: String!
}

type PageInfo {
  hasNextPage: Boolean!
  endCursor: String
}

"A team: the first half of a project's name."
type Entity {
  id: ID!
  name: String!
  isTeam: Boolean!
  readOnly: Boolean!
}

type Project {
  "entity/project, as everywhere else."
  id: ID!
  internalId: ID!
  name: String!
  entityName: String!
  entity: Entity!
  description: String
  repo: String
  dockerImage: String
  "When a client first asked for it by name; null for a project that was merely written to."
  createdAt: DateTime
}

input UpsertModelInput {
  "If given, the id of the project that the names say."
  id: String
  name: String!
  entityName: String
  description: String
  repo: String
  clientMutationId: String
}

type UpsertModelPayload {
  model: Project
  "The same under its newer name."
  project: Project
  "Whether this request was the first to ask for it."
  inserted: Boolean
  clientMutationId: String
}

type ServerInfo {
  frontendHost: String
  cliVersionInfo: JSON!
  latestLocalVersionInfo: LocalVersionInfo
  features: [ServerFeature!]!
}

type LocalVersionInfo {
  outOfDate: Boolean
  latestVersionString: String
  versionOnThisInstanceString: String
}

type ServerFeature {
  name: String!
  isEnabled: Boolean!
}
`)
