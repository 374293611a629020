import { buildSchema } from 'graphql'

/** The part of the vendor's GraphQL schema that clients use before tracing. */
export const schema = buildSchema(`
"Any JSON value."
scalar JSON
"JSON encoded as a string."
scalar JSONString
"RFC 3339, UTC."
scalar DateTime

type Query {
  "The user of the API key."
  viewer: User
  "A project of an entity, by default of the default entity. Every project in a team of the API key exists."
  project(name: String, entityName: String): Project
  "The former name of project."
  model(name: String, entityName: String): Project
  entity(name: String): Entity
  serverInfo: ServerInfo
}

type Mutation {
  "Registers a project by name. Idempotent; a null description or repo keeps the current value."
  upsertModel(input: UpsertModelInput!): UpsertModelPayload
}

type User {
  id: ID!
  username: String!
  name: String!
  email: String
  "Whether the user has access to every team."
  admin: Boolean!
  "The name of the default entity."
  entity: String
  "The first team by name; 'default' for an administrator, null for a user without a team."
  defaultEntity: Entity
  "Ordered by name; first is between 1 and 1000."
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
  "When a client first registered it by name; null for a project that has only been written to."
  createdAt: DateTime
}

input UpsertModelInput {
  "If given, the id of the project that entityName and name identify."
  id: String
  name: String!
  entityName: String
  description: String
  repo: String
  clientMutationId: String
}

type UpsertModelPayload {
  model: Project
  "The same project under its current name."
  project: Project
  "Whether this request registered the project."
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
