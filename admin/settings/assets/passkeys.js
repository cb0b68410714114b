// Signing in by passkeys, and adding them. A form with data-passkey names what its
// ceremony is for. The server asks by JSON, the authenticator answers, and the
// server says where to go on.

const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const encode = (bytes) => bytes && btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// creationOptions and requestOptions do by hand what older browsers lack.
function creationOptions(json) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON) return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  return {
    ...json, challenge: decode(json.challenge), user: { ...json.user, id: decode(json.user.id) },
    excludeCredentials: json.excludeCredentials?.map((c) => ({ ...c, id: decode(c.id) })),
  };
}

function requestOptions(json) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON) return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  return { ...json, challenge: decode(json.challenge), allowCredentials: json.allowCredentials?.map((c) => ({ ...c, id: decode(c.id) })) };
}

function credentialJSON(c) {
  if (c.toJSON) return c.toJSON();
  const response = { clientDataJSON: encode(c.response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (c.response[name]) response[name] = encode(c.response[name]);
  }
  return { id: c.id, rawId: encode(c.rawId), type: c.type, response, clientExtensionResults: c.getClientExtensionResults() };
}

const authenticators = {
  "sign-in": async (options) => navigator.credentials.get({ publicKey: requestOptions(options.publicKey) }),
  add: async (options) => navigator.credentials.create({ publicKey: creationOptions(options.publicKey) }),
};

// ask posts a form and returns the JSON that is answered; what is wrong is thrown
// as a text for the person.
async function ask(path, form) {
  const got = await fetch(path, { method: "POST", body: new URLSearchParams(form) });
  const answer = await got.json().catch(() => ({}));
  if (!got.ok) throw new Error(answer.message || "The server gave an unexpected answer. Reload the page.");
  return answer;
}

const notAllowed = {
  NotAllowedError: "No passkey was used. Try again when you are ready.",
  InvalidStateError: "This device already has a passkey for your account.",
};

async function ceremony(form) {
  const path = "/settings/passkeys/" + form.dataset.passkey;
  const fields = new FormData(form);
  const credential = await authenticators[form.dataset.passkey](await ask(path + "/begin", fields));
  fields.delete("old");
  fields.set("credential", JSON.stringify(credentialJSON(credential)));
  location.assign((await ask(path + "/finish", fields)).location);
}

function offerPasskeys(form) {
  const problem = form.querySelector(".error");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    await ceremony(form).catch((error) => {
      problem.textContent = notAllowed[error.name] || error.message;
      problem.hidden = false;
    });
  });
  form.hidden = false;
}

if (globalThis.PublicKeyCredential) document.querySelectorAll("form[data-passkey]").forEach(offerPasskeys);
