// The rules that the settings pages are held to: html-validate's standard ones.
export default {
	root: true,
	extends: ["html-validate:standard"],
};
