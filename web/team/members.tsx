import { Button, Checkbox, Modal, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { useSession } from '../kit/session.js'
import { ConfirmButton } from '../kit/confirm.js'
import { CopyButton } from '../kit/copy.js'
import { NotSaved, problemAt } from '../kit/form-errors.js'
import { onSubmit } from '../kit/on-submit.js'
import { rolesIn, rolesOf, ROLE_LABELS, roleText, type Roles } from '../kit/roles.js'
import { ActionFailed, Empty, Failed, Loading } from '../kit/states.js'
import { Table } from '../kit/table.js'
import { keysOfTeam, useMembers } from '../kit/team-data.js'
import { FormDialog, isChangedFrom } from '../kit/unsaved.js'

type Member = Schemas['Member']

/** The members of a team; administrators see and change their roles. */
export const Members = ({ team, canChange }: { readonly team: string; readonly canChange: boolean }) => {
  const members = useMembers(team)
  const queries = useQueryClient()
  const { user: self } = useSession()
  const [edited, setEdited] = useState<Member | 'new' | null>(null)
  const remove = useMutation({
    mutationFn: (user: string) =>
      api.DELETE('/api/teams/{team}/members/{user}', { params: { path: { team, user } } }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: keysOfTeam.members(team) }),
  })
  if (members.isError)
    return <Failed error={members.error} what="The members" onRetry={() => void members.refetch()} />
  if (!members.isSuccess) return <Loading what="members" />
  return (
    <>
      {canChange && (
        <div>
          <Button onClick={() => setEdited('new')}>Add a member</Button>
        </div>
      )}
      {members.data.data.length === 0 && (
        <Empty title="This team has no members yet">Administrators of the service see it all the same.</Empty>
      )}
      <ActionFailed error={remove.error} what="The removal" />
      {members.data.data.length > 0 && (
        <Table<Member>
          label="Members"
          rows={members.data.data}
          keyOf={({ user }) => user}
          columns={[
            { label: 'User', cell: ({ user }) => (user === self.user ? `${user} (you)` : user) },
            ...(canChange
              ? [
                  { label: 'Roles', cell: ({ roles }: Member) => (roles ?? []).map(roleText).join(', ') },
                  {
                    label: '',
                    width: 220,
                    cell: (row: Member) => (
                      <>
                        <Button
                          size="compact-sm"
                          variant="default"
                          mr={8}
                          aria-label={`Change roles of ${row.user}`}
                          onClick={() => setEdited(row)}
                        >
                          Change roles
                        </Button>
                        <ConfirmButton
                          label="Remove"
                          title={`Remove ${row.user} from ${team}?`}
                          onConfirm={() => remove.mutate(row.user)}
                        >
                          <p>Their API keys stay valid for their other teams.</p>
                        </ConfirmButton>
                      </>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {edited !== null && (
        <MemberDialog team={team} member={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </>
  )
}

const MemberDialog = ({
  team,
  member,
  onClose,
}: {
  readonly team: string
  readonly member: Member | null
  readonly onClose: () => void
}) => {
  const queries = useQueryClient()
  const [user, setUser] = useState(member?.user ?? '')
  const [initial] = useState<Roles>(() => rolesOf(member?.roles ?? ['member']))
  const [roles, setRoles] = useState(initial)
  const save = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/teams/{team}/members', {
          params: { path: { team } },
          body: { user: user.trim(), roles: [...rolesIn(roles)] },
        }),
      ),
    onSuccess: ({ api_key }) => {
      void queries.invalidateQueries({ queryKey: keysOfTeam.members(team) })
      if (api_key === null) onClose()
    },
  })
  const key = save.data?.api_key
  if (key != null)
    return (
      <Modal opened onClose={onClose} title={`${user} was added`}>
        <p>This is their first API key. Give it to them now: it is not shown again.</p>
        <pre className="code" tabIndex={0}>
          {key}
        </pre>
        <div className="bar" style={{ marginTop: 8 }}>
          <CopyButton text={key}>Copy the key</CopyButton>
        </div>
      </Modal>
    )
  return (
    <FormDialog
      title={member === null ? 'Add a member' : `Roles of ${member.user}`}
      isChanged={isChangedFrom({ user: member?.user ?? '', roles: initial }, { user, roles })}
      onClose={onClose}
    >
      <form
        className="form"
        onSubmit={onSubmit(() => {
          save.mutate()
        })}
      >
        {member === null && (
          <TextInput
            label="User"
            description="A user who does not exist yet is created."
            required
            data-autofocus
            value={user}
            error={problemAt(save.error, 'user')}
            onChange={(event) => setUser(event.currentTarget.value)}
          />
        )}
        <Checkbox.Group
          label="Roles in the whole team"
          value={[...roles.team]}
          error={problemAt(save.error, 'roles')}
          onChange={(team) => setRoles({ ...roles, team })}
        >
          {Object.entries(ROLE_LABELS).map(([value, label]) => (
            <Checkbox key={value} value={value} label={label} mt={8} />
          ))}
        </Checkbox.Group>
        <TextInput
          label="Administrator of only these projects"
          description="Names, separated by commas"
          value={roles.projects}
          onChange={(event) => setRoles({ ...roles, projects: event.currentTarget.value })}
        />
        <TextInput
          label="Administrator of only these registries"
          description="Names, separated by commas"
          value={roles.registries}
          onChange={(event) => setRoles({ ...roles, registries: event.currentTarget.value })}
        />
        <NotSaved error={save.error} what="The member" />
        <Button type="submit" loading={save.isPending} disabled={rolesIn(roles).length === 0}>
          Save
        </Button>
      </form>
    </FormDialog>
  )
}
