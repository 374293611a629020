/** Queries and mutations. Names of types are part of the protocol, because clients name them in their documents. */
export const root = `
"Any JSON value."
scalar JSON
"JSON encoded as a string. In texts of runs it may have NaN and infinities."
scalar JSONString
"RFC 3339, UTC."
scalar DateTime
scalar Int64
"In milliseconds."
scalar Duration

type Query {
  "The user of the API key."
  viewer: User
  "A project of an entity, by default of the default entity. Every project in a team of the API key exists."
  project(name: String, entityName: String): Project
  "The former name of project."
  model(name: String, entityName: String): Project
  "The projects of an entity that were registered or have runs, artifacts, calls or objects, by name."
  models(entityName: String, first: Int, after: String): ProjectConnection
  entity(name: String): Entity
  "Organizations are teams."
  organization(name: String!): Organization
  serverInfo: ServerInfo
  artifact(id: ID!): Artifact
  artifactCollection(id: ID!): ArtifactCollection
  clientIDMapping(clientID: ID!): ClientIDMapping
}

type Mutation {
  "Registers a project or a registry by name. Idempotent; a null description or repo keeps the current value."
  upsertModel(input: UpsertModelInput!): UpsertModelPayload
  "Starts a run, or changes what is given of it: null keeps a value."
  upsertBucket(input: UpsertBucketInput!): UpsertBucketPayload
  "Asks the program of a run to end."
  stopRun(input: StopRunInput!): SuccessPayload
  deleteRun(input: DeleteRunInput!): DeleteRunPayload
  "Deletes files of runs. Their content is kept."
  deleteFiles(input: DeleteFilesInput!): SuccessPayload
  createRunFiles(input: CreateRunFilesInput!): CreateRunFilesPayload
  "Accepted and not delivered: automations watch runs."
  notifyScriptableRunAlert(input: NotifyScriptableRunAlertInput!): SuccessPayload
  "A draft, or the version that has this content already."
  createArtifact(input: CreateArtifactInput!): CreateArtifactPayload
  createArtifactManifest(input: CreateArtifactManifestInput!): ArtifactManifestPayload
  "Names the document of an incremental manifest."
  updateArtifactManifest(input: UpdateArtifactManifestInput!): ArtifactManifestPayload
  "Links to store files of a draft; none for content that the project has already."
  createArtifactFiles(input: CreateArtifactFilesInput!): CreateArtifactFilesPayload
  "Makes a file of the parts that a client stored in the bucket."
  completeMultipartUploadArtifact(input: CompleteMultipartUploadArtifactInput!): CompleteMultipartUploadArtifactPayload
  "Makes the draft a version, once all its content is stored."
  commitArtifact(input: CommitArtifactInput!): ArtifactPayload
  useArtifact(input: UseArtifactInput!): ArtifactPayload
  updateArtifact(input: UpdateArtifactInput!): ArtifactPayload
  deleteArtifact(input: DeleteArtifactInput!): ArtifactPayload
  addAliases(input: AddAliasesInput!): SuccessPayload
  deleteAliases(input: DeleteAliasesInput!): SuccessPayload
  linkArtifact(input: LinkArtifactInput!): LinkArtifactPayload
  unlinkArtifact(input: UnlinkArtifactInput!): SuccessPayload
  updateArtifactSequence(input: UpdateArtifactSequenceInput!): CollectionPayload
  updateArtifactPortfolio(input: UpdateArtifactPortfolioInput!): CollectionPayload
  createArtifactCollectionTagAssignments(input: CreateArtifactCollectionTagAssignmentsInput!): TagsPayload
  deleteArtifactCollectionTagAssignments(input: DeleteArtifactCollectionTagAssignmentsInput!): SuccessPayload
  "Deletes all versions of a collection."
  deleteArtifactSequence(input: DeleteArtifactSequenceInput!): CollectionPayload
  "Unlinks all versions of a collection."
  deleteArtifactPortfolio(input: DeleteArtifactPortfolioInput!): CollectionPayload
}

type ClientIDMapping { serverID: ID! }
type SuccessPayload { success: Boolean clientMutationId: String }

type PageInfo { hasNextPage: Boolean! endCursor: String }

type User {
  id: ID! username: String! name: String! email: String
  "Whether the user has access to every team."
  admin: Boolean!
  "The name of the default entity."
  entity: String
  "The first team by name; 'default' for an administrator, null for a user without a team."
  defaultEntity: Entity
  "Ordered by name; first is between 1 and 1000."
  teams(first: Int = 1000, after: String): EntityConnection!
  apiKeys: ApiKeyConnection
  organizations: [Organization!]
  flags: JSONString! photoUrl: String deletedAt: DateTime
}
type ApiKeyConnection { edges: [ApiKeyEdge!]! }
type ApiKeyEdge { node: ApiKey }
type ApiKey { id: ID! name: String description: String }
type EntityConnection { edges: [EntityEdge!]! pageInfo: PageInfo! }
type EntityEdge { node: Entity! cursor: String! }
"A team: the first half of a project's name."
type Entity {
  id: ID! name: String! isTeam: Boolean! readOnly: Boolean! entityType: String
  organization: Organization user: User
  project(name: String): Project
}
type Organization {
  id: ID! name: String! orgEntity: Entity coreWeaveOrganizationId: String
  featureFlags(rampIDType: RampIDType!): [RampFlag]
}
enum RampIDType { OrgName }
type RampFlag { rampKey: String! isEnabled: Boolean! }

type ServerInfo {
  frontendHost: String cliVersionInfo: JSON! latestLocalVersionInfo: LocalVersionInfo features: [ServerFeature!]!
}
type LocalVersionInfo { outOfDate: Boolean latestVersionString: String versionOnThisInstanceString: String }
type ServerFeature { name: String! isEnabled: Boolean! }

type Project {
  "entity/project, as everywhere else."
  id: ID! internalId: ID! name: String! entityName: String! entity: Entity! description: String repo: String
  dockerImage: String readOnly: Boolean access: String views: JSONString isBenchmark: Boolean user: User
  "When a client first registered it by name, or else first wrote to it; null before."
  createdAt: DateTime
  updatedAt: DateTime allowAllArtifactTypesInRegistry: Boolean
  run(name: String!): Run
  bucket(name: String!, missingOk: Boolean): Run
  artifact(name: String!, enableTracking: Boolean): Artifact
  artifactSequence(name: String!): ArtifactSequence
  artifactCollectionMembership(name: String!): ArtifactCollectionMembership
  artifactCollection(name: String!): ArtifactCollection
  artifactType(name: String!): ArtifactType
  "Filters are JSON in the form of MongoDB; order is such as '-created_at'."
  runs(filters: JSONString, first: Int, after: String, order: String): RunConnection
  runCount(filters: JSONString): Int
  artifactCollections(first: Int, after: String, filters: JSONString, order: String): ArtifactCollectionConnection
  artifactTypes(first: Int, after: String, includeAll: Boolean): ArtifactTypeConnection
}

type ProjectConnection { totalCount: Int edges: [ProjectEdge!]! pageInfo: PageInfo! }
type ProjectEdge { node: Project cursor: String }

input UpsertModelInput {
  "If given, the id of the project that entityName and name identify."
  id: String
  name: String entityName: String description: String repo: String access: String framework: String
  dockerImage: String isBenchmark: Boolean isPublished: Boolean linkedBenchmark: ID owner: ID views: JSONString
  artifactTypes: [ArtifactTypeInput!] icon: JSON rateLimits: JSON allowAllArtifactTypesInRegistry: Boolean
  summaryMetrics: JSONString clientMutationId: String
}
input ArtifactTypeInput { name: String! description: String }
type UpsertModelPayload {
  model: Project
  "The same project under its current name."
  project: Project
  "Whether this request registered the project."
  inserted: Boolean
  clientMutationId: String
}
`
