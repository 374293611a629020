/** Artifacts, their collections in projects and registries, and what changes them. */
export const artifacts = `
enum ArtifactState { PENDING COMMITTED DELETED }
enum ArtifactDigestAlgorithm { MANIFEST_MD5 MANIFEST_XXH128 }
type Tag { id: ID! name: String! }
type TagConnection { edges: [TagEdge!]! }
type TagEdge { node: Tag }
type Artifact {
  id: ID! artifactSequence: ArtifactSequence! versionIndex: Int artifactType: ArtifactType! description: String
  metadata: JSONString ttlDurationSeconds: Int64! ttlIsInherited: Boolean! tags: [Tag!]! historyStep: Int64
  state: ArtifactState! size: Int64! digest: String! digestAlgorithm: ArtifactDigestAlgorithm commitHash: String
  fileCount: Int64! createdAt: DateTime! updatedAt: DateTime
  "Of all collections that have it: its own, and those of registries."
  aliases: [ArtifactAlias!]!
  currentManifest: ArtifactManifest
  files(first: Int, after: String, names: [String!]): FileConnection
  filesByManifestEntries(
    storageLayout: String!, manifestVersion: String!, entries: [ArtifactManifestEntryInput!], storageRegion: String
  ): FileConnection
  createdBy: ArtifactCreator
  usedBy: RunConnection
  artifactMemberships: ArtifactMembershipConnection
}
union ArtifactCreator = Run | User
type ArtifactConnection { totalCount: Int edges: [ArtifactEdge!]! pageInfo: PageInfo! }
type ArtifactEdge { node: Artifact cursor: String version: String }
type InputArtifactConnection { totalCount: Int edges: [InputArtifactEdge!]! pageInfo: PageInfo! }
type InputArtifactEdge { node: Artifact cursor: String }
type ArtifactAlias { id: ID! alias: String! artifactCollection: ArtifactCollection }
type ArtifactAliasConnection { edges: [ArtifactAliasEdge!]! pageInfo: PageInfo! }
type ArtifactAliasEdge { cursor: String node: ArtifactAlias }
type ArtifactManifest { id: ID! digest: String file: File! }
type VersionedArtifactConnection { totalCount: Int edges: [VersionedArtifactEdge!]! pageInfo: PageInfo! }
type VersionedArtifactEdge { node: Artifact cursor: String version: String! }
type ArtifactType {
  id: ID! name: String! description: String createdAt: DateTime
  artifact(name: String!): Artifact
  artifactCollection(name: String!): ArtifactCollection
  artifactSequence(name: String!): ArtifactCollection
  artifactCollections(first: Int, after: String, filters: JSONString, order: String): ArtifactCollectionConnection
}
type ArtifactTypeConnection { totalCount: Int edges: [ArtifactTypeEdge!]! pageInfo: PageInfo! }
type ArtifactTypeEdge { cursor: String node: ArtifactType }
type ArtifactCollectionConnection { totalCount: Int edges: [ArtifactCollectionEdge!]! pageInfo: PageInfo! }
type ArtifactCollectionEdge { cursor: String node: ArtifactCollection }
interface ArtifactCollection {
  id: ID! name: String! description: String createdAt: DateTime! updatedAt: DateTime project: Project
  defaultArtifactType: ArtifactType! tags: TagConnection! state: String
  aliases(first: Int, after: String): ArtifactAliasConnection
  artifacts(first: Int, after: String, order: String, filters: JSONString): VersionedArtifactConnection
  artifactMembership(aliasName: String!): ArtifactCollectionMembership
}
"A collection of a project."
type ArtifactSequence implements ArtifactCollection {
  id: ID! name: String! description: String createdAt: DateTime! updatedAt: DateTime project: Project
  defaultArtifactType: ArtifactType! tags: TagConnection! state: String
  aliases(first: Int, after: String): ArtifactAliasConnection
  artifacts(first: Int, after: String, order: String, filters: JSONString): VersionedArtifactConnection
  artifactMembership(aliasName: String!): ArtifactCollectionMembership
  latestArtifact: Artifact
}
"A collection of a registry."
type ArtifactPortfolio implements ArtifactCollection {
  id: ID! name: String! description: String createdAt: DateTime! updatedAt: DateTime project: Project
  defaultArtifactType: ArtifactType! tags: TagConnection! state: String
  aliases(first: Int, after: String): ArtifactAliasConnection
  artifacts(first: Int, after: String, order: String, filters: JSONString): VersionedArtifactConnection
  artifactMembership(aliasName: String!): ArtifactCollectionMembership
}
type ArtifactMembershipConnection { totalCount: Int edges: [ArtifactMembershipEdge!]! pageInfo: PageInfo! }
type ArtifactMembershipEdge { cursor: String node: ArtifactCollectionMembership }
"A version in a collection, under the number that it has there."
type ArtifactCollectionMembership {
  id: ID! versionIndex: Int createdAt: DateTime! aliases: [ArtifactAlias!]! artifactCollection: ArtifactCollection
  artifact: Artifact
  files(names: [String!], first: Int, after: String): FileConnection
}

input ArtifactAliasInput { artifactCollectionName: String! alias: String! entityName: String projectName: String }
input TagInput { tagName: String! tagCategoryName: String attributes: JSONString }
input CreateArtifactInput {
  entityName: String! projectName: String! runName: String artifactTypeName: String! artifactCollectionName: String
  artifactCollectionNames: [String!] digest: String! digestAlgorithm: ArtifactDigestAlgorithm! description: String
  aliases: [ArtifactAliasInput!] tags: [TagInput!] metadata: JSONString ttlDurationSeconds: Int64 historyStep: Int64
  enableDigestDeduplication: Boolean distributedID: String clientID: ID sequenceClientID: ID labels: JSONString
  storageRegion: String templateID: ID clientMutationId: String
}
type CreateArtifactPayload { artifact: Artifact! }
enum ArtifactManifestType { FULL INCREMENTAL PATCH }
enum ArtifactStorageLayout { V1 V2 }
input CreateArtifactManifestInput {
  artifactID: ID! baseArtifactID: ID name: String! digest: String! entityName: String! projectName: String!
  runName: String! type: ArtifactManifestType
}
input UpdateArtifactManifestInput { artifactManifestID: ID! digest: String baseArtifactID: ID }
type ArtifactManifestPayload { artifactManifest: ArtifactManifest! }
input UploadPartsInput { partNumber: Int64! hexMD5: String! }
input CreateArtifactFileSpecInput {
  artifactID: ID! name: String! md5: String! mimetype: String artifactManifestID: ID size: Int64
  uploadPartsInput: [UploadPartsInput!] digestAlgorithm: ArtifactDigestAlgorithm
}
input CreateArtifactFilesInput {
  clientMutationId: String cloudRegionID: ID artifactFiles: [CreateArtifactFileSpecInput!]!
  storageLayout: ArtifactStorageLayout
}
type CreateArtifactFilesPayload { files: FileConnection! }
enum CompleteMultipartAction { Complete }
input CompleteMultipartUploadArtifactInput {
  completeMultipartAction: CompleteMultipartAction! completedParts: [UploadPartsInput!]! artifactID: ID!
  storagePath: String! uploadID: String! clientMutationId: String
}
type CompleteMultipartUploadArtifactPayload { digest: String }
input CommitArtifactInput { artifactID: ID! }
type ArtifactPayload { artifact: Artifact! }
input UseArtifactInput {
  entityName: String! projectName: String! runName: String! artifactID: ID! artifactEntityName: String
  artifactProjectName: String usedAs: String
}
input UpdateArtifactInput {
  artifactID: ID! description: String metadata: JSONString ttlDurationSeconds: Int64 tagsToAdd: [TagInput!]
  tagsToDelete: [TagInput!] aliases: [ArtifactAliasInput!] labels: JSONString clientMutationId: String
}
input DeleteArtifactInput { artifactID: ID! deleteAliases: Boolean clientMutationId: String }
input AddAliasesInput { artifactID: ID! aliases: [ArtifactCollectionAliasInput!]! clientMutationId: String }
input DeleteAliasesInput { artifactID: ID! aliases: [ArtifactCollectionAliasInput!]! clientMutationId: String }
input ArtifactCollectionAliasInput {
  entityName: String! projectName: String! artifactCollectionName: String! alias: String!
}
input LinkArtifactInput {
  artifactPortfolioName: String artifactPortfolioID: ID entityName: String projectName: String
  aliases: [ArtifactAliasInput!] artifactID: ID clientID: ID clientMutationId: String
}
type LinkArtifactPayload { versionIndex: Int artifactMembership: ArtifactCollectionMembership }
input UnlinkArtifactInput { artifactID: ID! artifactPortfolioID: ID! clientMutationId: String }
input UpdateArtifactSequenceInput {
  artifactSequenceID: ID! name: String description: String clientMutationId: String
}
input UpdateArtifactPortfolioInput {
  artifactPortfolioID: ID! name: String description: String clientMutationId: String
}
input CreateArtifactCollectionTagAssignmentsInput {
  entityName: String! projectName: String! artifactCollectionName: String! tags: [TagInput!]! clientMutationId: String
}
input DeleteArtifactCollectionTagAssignmentsInput {
  entityName: String! projectName: String! artifactCollectionName: String! tags: [TagInput!]! clientMutationId: String
}
input DeleteArtifactSequenceInput { artifactSequenceID: ID! clientMutationId: String }
input DeleteArtifactPortfolioInput { artifactPortfolioID: ID! clientMutationId: String }
type CollectionPayload { artifactCollection: ArtifactCollection }
type TagsPayload { tags: [Tag!]! }
input ArtifactManifestEntryInput {
  name: String! digest: String! birthArtifactID: String size: Int64 digestAlgorithm: ArtifactDigestAlgorithm
}
`
